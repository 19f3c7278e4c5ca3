"""The paper's evaluation, repeated: trains what is missing, proves, and writes tables, figures and a comparison."""

from .command import reproduce

__all__ = ["reproduce"]
