#include "common/schema/json_gate.h"
