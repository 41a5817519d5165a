"""Several files of the CloudWatch agent as one.

Objects are merged key by key; one key with two different values is an error, as in the agent.
"""

from collections.abc import Sequence

from cwgpu.config.complaint import Complaint, at
from cwgpu.config.node import Kind, Loc, Member, Node, mapping, same


def merge(trees: Sequence[Node]) -> tuple[Node, list[Complaint]]:
    """Merge trees; the first holds where they conflict. There must be at least one."""
    complaints: list[Complaint] = []
    merged = trees[0]
    for tree in trees[1:]:
        merged = _merge(merged, tree, (), complaints)
    return merged, complaints


def _merge(one: Node, other: Node, loc: Loc, complaints: list[Complaint]) -> Node:
    if one.kind is Kind.MAPPING and other.kind is Kind.MAPPING:
        members = {member.name: member for member in one.members}
        for member in other.members:
            mine = members.setdefault(member.name, member)
            if mine is not member:
                value = _merge(mine.value, member.value, (*loc, member.name), complaints)
                members[member.name] = Member(mine.name, mine.place, value)
        return mapping(one.place, tuple(members.values()))
    if not same(one, other):
        first, second = one.place, other.place
        message = f"another value stands in {first.source.name}, line {first.line}"
        advice = "files of one directory are merged: write the key in one of them only"
        complaints.append(at(second, "conflicting-files", message, loc=loc, advice=advice))
    return one
