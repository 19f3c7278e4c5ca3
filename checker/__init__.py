"""The independent checker of compactproofs: standard library only, no import from the rest of the project.

Read it in this order, beside docs/FORMAT.md:
errors, numbers, reader, model, claim, facts, step, rules/*, kernel, explain, safetensors, options, __main__.
"""
