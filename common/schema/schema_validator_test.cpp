#include "common/schema/schema_validator.h"
