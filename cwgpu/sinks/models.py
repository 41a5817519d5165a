"""botocore's descriptions of services, without what nobody here asks for.

A client is made of JSON files that botocore brings: what the service can do, and where it is in
every region. Read as botocore reads them, they made a client cost 12 MiB and 80 ms: all operations
of the service with their documentation, the endpoints of all services, and a look into the folders
of all services for the names that there are. Here, what is not wanted is passed over as it is read.

https://github.com/boto/botocore/blob/develop/botocore/loaders.py
"""

import contextlib
import gzip
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from botocore.loaders import JSONFileLoader, Loader, create_loader

Raw: TypeAlias = dict[str, msgspec.Raw]
"""An object whose values are not read yet."""

OPERATIONS = frozenset(
    {
        "CreateLogGroup",
        "CreateLogStream",
        "DescribeLogGroups",
        "PutLogEvents",
        "PutRetentionPolicy",
    }
)
"""What we ask CloudWatch Logs for, of more than a hundred."""

_ENDPOINTS = frozenset({"logs", "oidc", "portal.sso", "sts"})
"""Services of which a region's peculiarities matter: CloudWatch Logs', and those that credentials
come from. Others would be found by their partition's pattern."""

_OPENED: tuple[tuple[str, Callable[..., Any]], ...] = ((".json", open), (".json.gz", gzip.open))


class Models(Loader):
    """Finds and reads the files."""

    def __init__(self, data_path: str | None) -> None:
        """``data_path`` is botocore's variable of that name, AWS_DATA_PATH: more folders."""
        folders = create_loader(data_path).search_paths
        super().__init__(folders, _Files(), include_default_search_paths=False)

    def list_available_services(self, type_name: str) -> list[str]:
        """Name the services that may have such a file; whether one has is seen when it is read."""
        del type_name
        folders = [folder for folder in map(Path, self.search_paths) if folder.is_dir()]
        return sorted({each.name for folder in folders for each in folder.iterdir()})


class _Files(JSONFileLoader):
    def load_file(self, file_path: str) -> Any:  # noqa: ANN401 - a document
        """Read a file that is named without its ending; None if there is none."""
        for ending, opened in _OPENED:
            with (
                contextlib.suppress(FileNotFoundError),
                opened(f"{file_path}{ending}", "rb") as file,
            ):
                return _read(Path(file_path), file.read())
        return None


def _read(path: Path, text: bytes) -> Any:  # noqa: ANN401 - a document
    if path.name == "endpoints":
        return _endpoints(text)
    if path.name == "service-2" and path.parts[-3] == "logs":
        return _service(text)
    return msgspec.json.decode(text)


def _endpoints(text: bytes) -> dict[str, Any]:
    document = msgspec.json.decode(text, type=Raw)
    partitions = msgspec.json.decode(document.pop("partitions"), type=list[Raw])
    return {**_all(document), "partitions": [_partition(each) for each in partitions]}


def _partition(partition: Raw) -> dict[str, Any]:
    services = msgspec.json.decode(partition.pop("services"), type=Raw)
    return {**_all(partition), "services": _all(services, _ENDPOINTS)}


def _service(text: bytes) -> dict[str, Any]:
    document = msgspec.json.decode(text, type=Raw)
    operations = _all(msgspec.json.decode(document.pop("operations"), type=Raw), OPERATIONS)
    shapes = msgspec.json.decode(document.pop("shapes"), type=Raw)
    return {**_all(document), "operations": operations, "shapes": _reached(operations, shapes)}


def _reached(operations: dict[str, Any], shapes: Raw) -> dict[str, Any]:
    """Read the shapes that the operations are made of."""
    reached: dict[str, Any] = {}
    wanted = list(_shapes(operations.values()))
    while wanted:
        name = wanted.pop()
        if name not in reached:
            reached[name] = msgspec.json.decode(shapes[name])
            wanted += _shapes([reached[name]])
    return reached


def _shapes(values: Iterable[Any]) -> Iterator[str]:
    """Name the shapes that are spoken of."""
    for value in values:
        if isinstance(value, list):
            yield from _shapes(value)
        elif isinstance(value, dict):
            if isinstance(value.get("shape"), str):
                yield value["shape"]
            yield from _shapes(value.values())


def _all(raw: Raw, names: Collection[str] | None = None) -> dict[str, Any]:
    """Read the values, or those of these names."""
    chosen = raw if names is None else names & raw.keys()
    return {name: msgspec.json.decode(raw[name]) for name in chosen}
