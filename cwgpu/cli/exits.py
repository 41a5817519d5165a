"""Exit codes, as ``cwgpu --help`` and docs/operations.md list them.

3 is promtool's for lint findings; 69, 77 and 78 are those of sysexits.h.
"""

from cwgpu.model import errors

OK = 0
RUNTIME = 1
USAGE = 2
WARNINGS = 3
NOTHING_FOUND = 4
UNAVAILABLE = 69
PERMISSION = 77
CONFIGURATION = 78

MEANINGS = {
    OK: "all went well",
    RUNTIME: "a failure at run time, or data lost at the end",
    USAGE: "the command line is wrong",
    WARNINGS: "check found warnings, and --deny-warnings was given",
    NOTHING_FOUND: "no target was found, or nothing on the pages was selected",
    UNAVAILABLE: "no target answered, or a service that is needed did not",
    PERMISSION: "CloudWatch, Kubernetes or the file system refused us",
    CONFIGURATION: "the configuration is wrong; nothing was started",
}

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (errors.ConfigurationError, CONFIGURATION),
    (errors.UsageError, USAGE),
    (errors.PermissionError_, PERMISSION),
    (errors.UnavailableError, UNAVAILABLE),
)


def code(error: Exception) -> int:
    """Give the exit code for an error."""
    return next((value for kind, value in _CODES if isinstance(error, kind)), RUNTIME)
