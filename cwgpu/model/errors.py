"""The exception tree. A leaf exists only where somebody decides differently on it.

::

    CwgpuError
    |-- ConfigurationError      your configuration: exit 78; holds every complaint of the files
    |-- UsageError              your command line: exit 2
    |-- ExpositionError         their page: a line that is no exposition text
    |-- RuleError               your rule: a regex, duration, size or relabel rule that cannot be
    |-- UnavailableError        the outside: a file, port or service that does not answer; exit 69
    `-- PermissionError_        the outside says no; exit 77
"""


class CwgpuError(Exception):
    """Base of all errors that this program raises itself."""


class ConfigurationError(CwgpuError):
    """The configuration cannot be used; the text lists every complaint, one to a paragraph."""


class UsageError(CwgpuError):
    """The command line asks for something that does not fit together."""


class ExpositionError(CwgpuError):
    """A line of a metrics page that the format does not allow."""


class RuleError(CwgpuError):
    """A rule that cannot be compiled. The text says what was found and what to write."""


class UnavailableError(CwgpuError):
    """Something outside that is needed does not answer."""


class PermissionError_(CwgpuError):  # noqa: N801, N818 - the builtin's name is taken
    """Something outside that is needed refuses us."""
