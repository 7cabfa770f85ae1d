"""How a model says no, and how our own watch over it does.

ModelRejected (a RejectedError)
    MODEL_UNAVAILABLE  it wants a longer wait than the call has
    MODEL_TIMEOUT      no whole answer within the call's deadline
    MODEL_AUTH         the key is missing or refused
    MODEL_QUOTA        the account has nothing left
    MODEL_NOT_FOUND    no such model, or no such address
    MODEL_REQUEST      the provider will not take this request
    MODEL_CONTEXT      the prompt is longer than the model's context
    MODEL_TRUNCATED    the model was given less than the whole prompt, and nobody said so
    MODEL_FILTERED     the provider's filter stopped it
    MODEL_LOOP         the answer repeats itself without end
    MODEL_OUTPUT       no answer, a refusal, or none of the form that was asked for
ModelUnavailable (a TransientError)
    MODEL_UNAVAILABLE  busy, broken or out of reach, after our own retries

Messages never hold what a provider said with a 401 or 403, which can quote the key.
"""

from typing import Final

from state.values.errors import RejectedError, TransientError
from state.values.money import Usage

UNAVAILABLE: Final = "MODEL_UNAVAILABLE"
TIMEOUT: Final = "MODEL_TIMEOUT"
AUTH: Final = "MODEL_AUTH"
QUOTA: Final = "MODEL_QUOTA"
NOT_FOUND: Final = "MODEL_NOT_FOUND"
REQUEST: Final = "MODEL_REQUEST"
CONTEXT: Final = "MODEL_CONTEXT"
TRUNCATED: Final = "MODEL_TRUNCATED"
FILTERED: Final = "MODEL_FILTERED"
LOOP: Final = "MODEL_LOOP"
OUTPUT: Final = "MODEL_OUTPUT"


class ModelRejected(RejectedError):
    """The call failed in a way that asking again does not mend; `usage` is what it took."""

    def __init__(self, message: str, *, code: str, usage: Usage | None = None) -> None:
        super().__init__(message, code=code)
        self.usage = usage or Usage()


class ModelUnavailable(TransientError):
    """The model could not be had this time; `usage` is what the call took.

    `was_repeated` tells that it was asked as often as it is to be: whoever asks again asks later.
    """

    code = UNAVAILABLE

    def __init__(
        self, message: str, *, usage: Usage | None = None, was_repeated: bool = False
    ) -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        self.was_repeated = was_repeated


ModelError = ModelRejected | ModelUnavailable
