"""What an auditor of a league with several managers puts together: the data of one of them, the logs of everybody."""

import shutil


def gather(target, data, logs):
    """Makes `target`, a directory for the verifiers. `logs`: name -> the directory of logs of one machine."""
    shutil.copytree(data, target / "data", ignore=shutil.ignore_patterns("logs"))
    for name, directory in logs.items():
        shutil.copytree(directory, target / "logs" / name)
    return target
