"""Puts tensors of a device in the places of weights while modules run there, and takes them out again."""

import contextlib
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch import nn

from .moving import version_of

Place = Tuple[Any, Any, torch.Tensor, torch.Tensor]  # container, key, what to put there, the weight's home
_GONE = object()


def norm_statistics(model: nn.Module) -> Dict[int, nn.Module]:
    """The modules whose training changes their buffers without torch counting that as a change, by the id of the dict of
    these buffers."""
    return {id(module._buffers): module for module in model.modules()
            if isinstance(module, nn.modules.batchnorm._NormBase) and module.track_running_stats}


def _at(container, key):
    try:
        return container[key]
    except (KeyError, IndexError):
        return _GONE


class Installer:
    """to_device(device, tensor) and to_host(tensor): tensors that the model itself has put in place of a weight, for
    instance by a hook, are moved when they are used. statistics: norm_statistics of the model."""

    def __init__(self, to_device: Callable, to_host: Callable, back: Callable, statistics: Dict[int, nn.Module]):
        self.to_device = to_device
        self.to_host = to_host
        self.back = back  # back(tensor, like): the tensor where `like` is
        self.statistics = statistics
        self._standing: Dict[Tuple[int, Any], torch.Tensor] = {}  # what is in places at the moment, if not the home

    @contextlib.contextmanager
    def installed(self, device: str, places: List[Place], changed: Optional[Callable] = None):
        """Within, the tensors are in the places. Afterwards what was there before is there again, with the changes that
        modules made: in place, or by another tensor. changed(home, tensor) is called for each change."""
        done: List[Tuple[Any, ...]] = []
        all_standing = self._standing
        try:
            for container, key, tensor, home in places:
                place = (id(container), key)
                before = _at(container, key)
                standing = all_standing.get(place)
                if before is not (home if standing is None else standing):
                    if not isinstance(before, torch.Tensor):
                        continue  # the model has taken the weight away
                    tensor = self.to_device(device, before)
                done.append((container, key, before, tensor, version_of(tensor), home, standing, place))
                container[key] = all_standing[place] = tensor
            yield
        finally:
            statistics = self.statistics
            for container, key, before, tensor, version, home, standing, place in reversed(done):
                now = _at(container, key)
                if standing is None:
                    del all_standing[place]
                else:
                    all_standing[place] = standing
                if now is tensor and version_of(tensor) == version \
                        and (place[0] not in statistics or not statistics[place[0]].training):
                    container[key] = before
                elif isinstance(now, torch.Tensor) and now.shape == before.shape and now.dtype == before.dtype:
                    container[key] = before
                    self._carry_back(now, tensor, before, home, changed)
                elif isinstance(now, torch.Tensor):  # of another shape: stays, and is moved whenever it is used
                    container[key] = self.to_host(now)

    def _carry_back(self, now, tensor, before, home, changed) -> None:
        with torch.no_grad():
            if now is not tensor:
                tensor.data.copy_(now)
            # Homes do not count it as a change: the device's copy is as new.
            (before.data if before is home else before).copy_(self.back(now, before))
        if changed is not None:
            changed(home, now)

