"""The error codes that an answer may hold, sorted by what they say about the next try.

Sources: the errors of PutLogEvents, CreateLogGroup and CreateLogStream,
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/CommonErrors.html, and the
words that SDKs and older versions of the services use for the same. Words for failures on our own
side, where no answer came, stand beside them: ``ReadTimeout``, ``ConnectionError`` ...
"""

THROTTLED = frozenset(
    {
        "LimitExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "ServiceQuotaExceededException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
    }
)
"""Too many calls: less often, and for ever."""

SERVER = frozenset(
    {
        "ConflictException",
        "InternalFailure",
        "InternalServerError",
        "InternalServerException",
        "InvalidSequenceTokenException",  # sequence tokens no longer mean anything
        "OperationAbortedException",  # two creations of one group at a time
        "RequestAbortedException",  # before an answer was sent
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
    }
)
"""The service's own trouble."""

NETWORK = frozenset({"ConnectionError", "ConnectTimeout"})
"""The call never got there."""

UNANSWERED = frozenset({"ConnectionClosed", "ReadTimeout"})
"""The call went out but no answer came back: it may have been accepted."""

CREDENTIALS = frozenset(
    {
        "AuthFailure",
        "CredentialRetrievalError",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidRegion",
        "InvalidSignatureException",  # also what a wrong local clock gives
        "InvalidToken",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "NoCredentials",
        "NoRegion",
        "RequestExpired",
        "RequestInTheFuture",
        "RequestTimeTooSkewed",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
"""New credentials, or a clock put right, let the same call pass."""

DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "KMSAccessDeniedException",
        "KMSDisabledException",
        "KMSInvalidStateException",
        "KMSNotFoundException",
        "LogGroupClass",  # a word of the sink's: a group of this class makes no metrics of EMF
        "NotAuthorized",
        "OptInRequired",
        "UnauthorizedOperation",
    }
)
"""Somebody has to change a permission, and may do so while we run."""

CONTENT = frozenset(
    {
        "413",  # a page of what stands in between: the SDK makes a code of a bare status
        "InvalidParameter",
        "InvalidParameterException",
        "InvalidParameterValue",
        "MalformedHttpRequestException",
        "PayloadTooLarge",
        "RequestEntityTooLarge",
        "RequestEntityTooLargeException",
        "SerializationException",
        "ValidationError",
        "ValidationException",
    }
)
"""This very call can never be accepted. Only these: what is refused with a word that we do not know
may be an account that is suspended or an endpoint that is wrong, and is kept."""

MISSING = "ResourceNotFoundException"
"""The log group or stream does not exist."""

EXISTS = "ResourceAlreadyExistsException"
"""What was to be created is there."""

ACCEPTED_BEFORE = "DataAlreadyAcceptedException"
"""The same batch was stored by an earlier call; the service no longer says so, imitations do."""
