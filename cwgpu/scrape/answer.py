"""What can be wrong with an answer that did come. One leaf for each thing to repair."""

from cwgpu.model import errors


class AnswerError(errors.CwgpuError):
    """An answer came, and it is no page."""


class StatusError(AnswerError):
    """Its status is not 200."""

    def __init__(self, status: int, words: str) -> None:
        """``words`` is the beginning of the answer's text."""
        super().__init__(status, words)
        self.status = status
        self.words = words


class TooLargeError(AnswerError):
    """The unpacked body reached the limit."""


class GzipError(AnswerError):
    """The body says that it is gzip and is not, or not all of it came."""
