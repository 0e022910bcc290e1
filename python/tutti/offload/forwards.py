"""The forward that a dispatched module has in place of its own."""

import functools
from typing import Any, Callable, Dict

from torch import nn

from ..binary import TuttiError

_BEFORE = "_tutti_forward"  # in a module's dict: the forward that the dict had before, or None


class Forward:
    """Calls call(inner, args, kwargs), where inner is the module's own forward. It belongs to this module, so it cannot be
    copied or pickled with it: a copy would run the original's weights."""

    def __init__(self, module: nn.Module, call: Callable):
        self.inner = module.forward
        self.call = call
        self.module = module
        self.hooks = hooks_on_weights(module)
        functools.update_wrapper(self, self.inner, updated=())
        module.__dict__[_BEFORE] = module.__dict__.get("forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(self._inner_with_hooks if self.hooks else self.inner, args, kwargs)

    def _inner_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        for hook in self.hooks.values():
            hook(self.module, args)
        return self.inner(*args, **kwargs)

    def __deepcopy__(self, memo):
        raise TuttiError("a dispatched model and its modules cannot be copied; tutti.undispatch(model) first, and dispatch the "
                         "copy")

    def __reduce_ex__(self, protocol):
        raise TuttiError("a dispatched model and its modules cannot be pickled; save model.state_dict(), or "
                         "tutti.undispatch(model) first")


def hooks_on_weights(module: nn.Module) -> Dict[int, Any]:
    """Takes the hooks out of the module that compute a weight of others before its forward (weight_norm, spectral_norm of
    torch.nn.utils): they must run where the weights are, which is inside of the new forward."""
    hooks = module._forward_pre_hooks
    return {key: hooks.pop(key) for key, hook in list(hooks.items()) if hasattr(hook, "compute_weight")}


def forget_forward(module: nn.Module) -> None:
    if isinstance(module.__dict__.get("forward"), Forward):
        hooks, others = module._forward_pre_hooks, dict(module._forward_pre_hooks)
        hooks.clear()
        hooks.update(sorted({**module.forward.hooks, **others}.items()))
    before = module.__dict__.pop(_BEFORE, None)
    if before is None:
        module.__dict__.pop("forward", None)
    else:
        module.forward = before
