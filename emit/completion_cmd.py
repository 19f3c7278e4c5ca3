"""The command `completion`: what a shell must source so that Tab completes our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

COMMANDS = ("compactproofs", "certify", "audit", "sweep")

EPILOG = """\b
Examples:
  # bash, for this session; put the line into ~/.bashrc to keep it
  eval "$(compactproofs completion bash)"
  # zsh
  eval "$(compactproofs completion zsh)"
  # fish
  compactproofs completion fish > ~/.config/fish/completions/compactproofs.fish
"""


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of compactproofs, certify, audit and sweep for SHELL.

    It completes options, their choices, names of strategies for certify, and files. The program check, which needs no
    package, has no completion.
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    for name in COMMANDS:
        variable = f"_{name.upper()}_COMPLETE"
        # click's own source() asks the running bash for its version; the template is the same for all that have Tab
        template = found(click.Command(name), {}, name, variable)
        click.echo(template.source_template % template.source_vars())
