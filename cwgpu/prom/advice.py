"""What to write instead of a regex that RE2 refuses.

RE2 says in a few words what it does not take. Most people who meet such a message wrote a regex
for Perl, Python or Java, so each message is answered with what does the same in RE2.
Syntax: https://github.com/google/re2/wiki/Syntax.
"""

_WHAT_TO_WRITE = (
    # The first entry whose words are part of RE2's message decides: the special before the general.
    ("perl operator: (?=", "RE2 has no lookahead; match the text itself, or use a second rule"),
    ("perl operator: (?!", "RE2 has no lookahead; exclude with a rule of its own (action: drop)"),
    ("perl operator: (?<", "RE2 has no lookbehind; match the text itself, in a group if needed"),
    ("perl operator: (?>", "RE2 never backtracks, so atomic groups are needless: write (?:...)"),
    ("perl operator: (?#", "RE2 has no comments in a regex; leave it out"),
    ("perl operator: (?(", "RE2 has no conditions; write both cases with |"),
    ("perl operator: (?|", "RE2 has no branch reset; give each case its own group"),
    ("perl operator: (?P", "a named group is (?P<name>...); RE2 has no back-references"),
    ("perl operator: (?x", "RE2 has no verbose mode; leave out (?x) and every blank meant for it"),
    ("perl operator", "the flags are i, m, s and U, as in (?i) or (?i:...); a group is (?:...)"),
    ("escape sequence: \\C", "a single byte cannot be matched; . is any one character"),
    ("escape sequence: \\Z", "the end of the text is \\z"),
    ("escape sequence: \\h", "a blank or tab is [ \\t]"),
    ("escape sequence: \\R", "a line break is \\r?\\n"),
    ("escape sequence: \\u", "a character by its number is \\x{0041}"),
    ("escape sequence: \\x", "a character by its number is \\x41 or \\x{0041}, at most 10FFFF"),
    ("escape sequence: \\E", "\\E only ends a \\Q that stands before it"),
    ("escape sequence: \\", "RE2 does not know this escape and has no back-references"),
    ("trailing \\", "a backslash itself is \\\\"),
    ("bad repetition operator", "one repetition is enough; RE2 has no possessive ones such as a++"),
    ("no argument for repetition", "it repeats nothing: any text is .*, the character itself \\*"),
    ("invalid repetition size", "a repetition is at most {1000} in all, the smaller number first"),
    ("named capture", "a named group is (?P<name>...), its name made of ASCII letters, digits, _"),
    ("missing )", "a ( is never closed; the character itself is \\("),
    ("unexpected )", "a ) closes nothing; the character itself is \\)"),
    ("missing ]", "a [ is never closed; the character itself is \\["),
    ("class range: \\", "RE2 has no such class; \\pL is any letter, \\p{Greek} a script"),
    ("class range: [:", "RE2 has no such class; [[:alpha:]] and [[:digit:]] are two that it has"),
    ("class range", "write the lower end first, or put the - at the end: [az-]"),
    ("groups, too many", "at most 1000 are; one that is not referred to is (?:...)"),
    ("too large", "it grows too big when compiled; use smaller repetitions or fewer alternatives"),
    ("surrogate", "write the character itself; half a surrogate pair is none"),
)

_SHOWN = 500
"""Characters of a pattern that are shown: a longer one is found again by these. RE2's messages may
hold all of it again."""


def sentence(pattern: str, message: str) -> str:
    """Say which regex is wrong, what RE2 says about it, and what to write."""
    advice = next(
        (advice for words, advice in _WHAT_TO_WRITE if words in message), "see RE2 syntax"
    )
    return f"regex {_beginning(pattern)!r}: {_beginning(message)}: {advice}"


def _beginning(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
