"""Makes the man page and the shell completions of one program from what `PROGRAM --options-as-json` says.

    reference.py PROGRAM PAGE.1.in OUT [SIBLING...]      writes OUT/man/NAME.1, OUT/bash/NAME, OUT/zsh/_NAME and OUT/fish/NAME.fish

The build runs it for each program (packaging/CMakeLists.txt). PAGE.1.in has the parts of the man page that people
write; @VERSION@, @SYNOPSIS@ and @OPTIONS@ are filled in. A SIBLING is a program that is a command of this one, as
league-bench is `league bench`, or has commands of this one, as league-check has `league spar`.
"""
import json
import re
import subprocess
import sys
from pathlib import Path


class Command:
    """A program or one of its commands, with the words that lead to it."""

    def __init__(self, table, parents=(), inherited_footer=""):
        self.words = (*parents, table["name"])
        self.description = table["description"]
        # CLI11 hands a footer down to commands that have none.
        self.footer = table["footer"].strip("\n") if table["footer"] != inherited_footer else ""
        options = [Option(row) for row in table["options"]]
        self.options = [option for option in options if option.names]
        self.positionals = [option for option in options if option.positional]
        self.commands = [Command(row, self.words, table["footer"]) for row in table["commands"]]

    @property
    def path(self):
        return " ".join(self.words)

    def tree(self):
        yield self
        for command in self.commands:
            yield from command.tree()


class Option:
    def __init__(self, row):
        self.names = row["names"]
        self.positional = row["positional"]
        self.description = " ".join(row["description"].split())
        self.default = row["default"]
        self.is_required = row["required"]
        self.takes_value = row["most_values"] > 0
        self.needs_value = row["least_values"] > 0
        self.repeats = row["most_values"] > 1
        kind, _, check = row["type"].partition(":")
        self.is_number = kind in ("INT", "UINT", "FLOAT")
        choices = re.search(r"\{(.*)\}", check)
        self.choices = choices.group(1).split(",") if choices else []
        self.range = next(iter(re.findall(r"in \[(.*)\]", check)), "").replace(" - ", " to ")
        # The programs do not know more of a path than that it is a text.
        about_files = check in ("FILE", "DIR", "PATH") or re.search(r"\b(files?|director(y|ies))\b", self.description)
        self.is_path = self.takes_value and not self.is_number and not self.choices and bool(about_files)

    @property
    def value_name(self):
        if self.choices:
            return "|".join(self.choices)
        if self.is_number:
            return "N"
        return "PATH" if self.is_path else "VALUE"


# The man page.

def roff(text):
    """A text as roff reads it: backslashes, hyphens that are to be copied, and lines that look like requests."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def usage_words(command):
    words = [r"[\fIOPTIONS\fR]"] if command.options else []
    for option in command.positionals:
        name = r"\fI" + roff(option.positional) + r"\fR" + ("..." if option.repeats else "")
        words.append(name if option.is_required else f"[{name}]")
    return words + ([r"\fICOMMAND\fR"] if command.commands else [])


def option_lines(option):
    if option.names:
        heading = ", ".join(rf"\fB{roff(name)}\fR" for name in option.names)
        if option.takes_value:
            value = rf"\fI{roff(option.value_name)}\fR"
            heading += f" {value}" if option.needs_value else f" [{value}]"
        heading += "..." if option.repeats else ""
    else:
        heading = rf"\fI{roff(option.positional)}\fR"
    remarks = [option.range] if option.range else []
    if option.default and "default" not in option.description:
        remarks.append(f"default: {option.default}")
    if option.is_required and option.names:
        remarks.append("required")
    text = option.description + (f" ({'; '.join(remarks)})" if remarks else "")
    return [".TP", heading, roff(text.strip())]


def command_lines(command):
    """What a page says of a program or command: its arguments, its options and the end of its --help."""
    lines = []
    for option in command.positionals + command.options:
        lines += option_lines(option)
    if command.footer:
        lines += [".PP", ".nf", roff(command.footer), ".fi"]
    return lines


def sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def man_page(program, version, page):
    synopsis = " ".join([rf"\fB{roff(program.path)}\fR", *usage_words(program)])
    body = command_lines(program)
    for command in list(program.tree())[1:]:
        if len(command.words) == 2:
            body.append(f".SH COMMAND {roff(command.words[1]).upper()}")
        body += [".PP", " ".join([rf"\fB{roff(command.path)}\fR", *usage_words(command)]), ".PP",
                 roff(sentence(command.description))]
        body += command_lines(command)
    for name, text in {"VERSION": version, "SYNOPSIS": synopsis, "OPTIONS": "\n".join(body)}.items():
        page = page.replace(f"@{name}@", text)
    return page


# Shell completions. Each finds the command that the words before the cursor lead to, and offers its options, its
# commands, or the values of the option before the cursor.

def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash_values(option):
    if option.choices:
        return f"_league_words {quoted(' '.join(option.choices))}"
    return "_league_paths" if option.is_path else ":"


def bash_branch(command):
    lines = [f"    {quoted(command.path)})", '      case "$previous" in']
    for option in command.options:
        if option.needs_value:
            lines.append(f"        {'|'.join(option.names)}) {bash_values(option)}; return ;;")
    lines.append("      esac")
    words = " ".join(name for option in command.options for name in option.names)
    lines += ['      case "$current" in', f"        -*) _league_words {quoted(words)}; return ;;", "      esac"]
    if command.commands:
        lines.append(f"      _league_words {quoted(' '.join(each.words[-1] for each in command.commands))}")
    elif command.positionals:
        lines.append(f"      {bash_values(command.positionals[-1])}")
    return [*lines, "      ;;"]


def bash_completion(program):
    name = program.words[0]
    known = "|".join(quoted(command.path) for command in list(program.tree())[1:])
    descent = ['    case "$path ${COMP_WORDS[i]}" in', f'      {known}) path="$path ${{COMP_WORDS[i]}}" ;;', "    esac"]
    if not known:
        descent = ["    :"]
    branches = [line for command in program.tree() for line in bash_branch(command)]
    return "\n".join([
        f"# Completion of {name} for bash. Made by the build from the options of the program.",
        "_league_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\"); }",
        "_league_paths() {",
        "  compopt -o filenames 2>/dev/null",
        "  mapfile -t COMPREPLY < <(compgen -f -- \"$current\")",
        "}",
        f"_league_complete_{name}() {{",
        f"  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} path={name} i",
        "  COMPREPLY=()",
        "  # --option=value is three words here.",
        "  if [ \"$current\" = = ]; then",
        "    current=",
        "  elif [ \"$previous\" = = ] && [ \"$COMP_CWORD\" -ge 2 ]; then",
        "    previous=${COMP_WORDS[COMP_CWORD - 2]}",
        "  fi",
        "  for ((i = 1; i < COMP_CWORD; ++i)); do",
        *descent,
        "  done",
        "  case \"$path\" in",
        *branches,
        "  esac",
        "}",
        f"complete -F _league_complete_{name} {name}",
        ""])


def zsh_text(text):
    """A text between the brackets and colons of _arguments."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def zsh_action(option):
    if option.choices:
        return f"({' '.join(option.choices)})"
    return "_files" if option.is_path else " "


def zsh_specs(command):
    for option in command.options:
        for name in option.names:
            many = "*" if option.repeats else ""
            value = ""
            if option.takes_value:
                colons = ":" if option.needs_value else "::"
                value = f"{colons}{zsh_text(option.value_name)}:{zsh_action(option)}"
            equals = "=" if option.takes_value and name.startswith("--") else ""
            yield quoted(f"{many}{name}{equals}[{zsh_text(option.description)}]{value}")
    if command.commands:
        yield "'1: :->command'"
        yield "'*:: :->rest'"
        return
    for option in command.positionals:
        place = "*" if option.repeats else ""
        yield quoted(f"{place}:{zsh_text(option.positional)}:{zsh_action(option)}")


def zsh_function(command):
    name = "_" + "_".join(command.words)
    lines = [f"{name}() {{"]
    if not command.commands:
        return [*lines, "  _arguments \\", " \\\n".join(f"    {spec}" for spec in zsh_specs(command)), "}"]
    lines += ["  local context state state_descr line", "  typeset -A opt_args", "  local -a commands=("]
    for each in command.commands:
        lines.append("    " + quoted(each.words[-1] + ":" + each.description.replace(":", "\\:")))
    lines += ["  )", "  _arguments -C \\", " \\\n".join(f"    {spec}" for spec in zsh_specs(command)),
              "  case $state in", "    command) _describe command commands ;;", "    rest)", "      case $words[1] in"]
    lines += [f"        {each.words[-1]}) {name}_{each.words[-1]} ;;" for each in command.commands]
    return [*lines, "      esac", "      ;;", "  esac", "}"]


def zsh_completion(program):
    name = program.words[0]
    lines = [f"#compdef {name}", f"# Completion of {name} for zsh. Made by the build from the options of the program."]
    for command in program.tree():
        lines += zsh_function(command)
    return "\n".join([*lines, f'_{name} "$@"', ""])


def fish_values(option):
    if option.choices:
        return f" -x -a {quoted(' '.join(option.choices))}"
    if not option.takes_value:
        return ""
    return " -r -F" if option.is_path else " -x"


def fish_completion(program):
    name = program.words[0]
    known = " ".join(quoted(command.path) for command in list(program.tree())[1:])
    lines = [
        f"# Completion of {name} for fish. Made by the build from the options of the program.",
        f"function __{name}_command_is",
        f"    set -l path {name}",
        "    for word in (commandline -opc)[2..-1]",
        f"        contains -- \"$path $word\" {known}; and set path \"$path $word\"" if known else "        :",
        "    end",
        '    test "$path" = "$argv"',
        "end",
        f"complete -c {name} -f",
    ]
    for command in program.tree():
        start = f"complete -c {name} -n {quoted(f'__{name}_command_is {command.path}')}"
        for each in command.commands:
            lines.append(f"{start} -a {each.words[-1]} -d {quoted(each.description)}")
        for option in command.options:
            names = "".join(f" -l {word[2:]}" if word.startswith("--") else f" -s {word[1:]}" for word in option.names)
            lines.append(f"{start}{names} -d {quoted(option.description)}{fish_values(option)}")
        if any(option.is_path for option in command.positionals):
            lines.append(f"{start} -F")
    return "\n".join([*lines, ""])


def options_of(executable):
    answer = subprocess.run([executable, "--options-as-json"], check=True, stdout=subprocess.PIPE, timeout=60)
    return json.loads(answer.stdout)


def main():
    executable, page, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    table = options_of(executable)
    siblings = {}
    for sibling in map(options_of, sys.argv[4:]):
        if sibling["name"] == table["name"]:
            siblings.update({row["name"]: row for row in sibling["commands"]})
        else:
            siblings[sibling["name"].removeprefix(table["name"] + " ")] = sibling
    table["commands"] = [{**siblings.get(row["name"], row), "name": row["name"]} for row in table["commands"]]
    program = Command(table)
    name = program.words[0]
    texts = {
        f"man/{name}.1": man_page(program, table["version"], page.read_text(encoding="utf-8")),
        f"bash/{name}": bash_completion(program),
        f"zsh/_{name}": zsh_completion(program),
        f"fish/{name}.fish": fish_completion(program),
    }
    for place, text in texts.items():
        (out / place).parent.mkdir(parents=True, exist_ok=True)
        (out / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
