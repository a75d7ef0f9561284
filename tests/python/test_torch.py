# SPDX-License-Identifier: Apache-2.0
"""A torch model trained from headrace.Loader."""

import headrace
import pytest
import torch
from striped import SIDE, striped_folder


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    root = tmp_path_factory.mktemp("striped")
    return striped_folder(root / "train", seed=1), striped_folder(root / "val", per_class=15, seed=2)


def loader_of(folder, **more):
    return headrace.Loader(
        folder, 12, image_shape=(1, SIDE, SIDE), augment="none", threads=1, output="torch", **more
    )


def small_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(8, 3),
    )


def train_epoch(model, optimizer, loader):
    losses = []
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_tensors_share_the_loaders_memory(sets):
    with loader_of(sets[0]) as loader:
        images, labels = next(iter(loader))
    assert images.dtype == torch.float32 and images.shape == (12, 1, SIDE, SIDE)
    assert labels.dtype == torch.int64 and labels.shape == (12,)
    assert images.data_ptr() % 64 == 0


def test_a_model_learns(sets):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    with loader_of(sets[0]) as train, loader_of(sets[1], classes=train.classes, shuffle="none") as val:
        epochs = [train_epoch(model, optimizer, train) for _ in range(8)]
        assert sum(epochs[-1]) < 0.5 * sum(epochs[0])
        with torch.no_grad():
            right = sum(int((model(images).argmax(1) == labels).sum()) for images, labels in val)
    assert right >= 0.9 * val_size(sets)


def val_size(sets):
    return sum(1 for _ in sets[1].rglob("*.png"))


def test_training_resumes_with_the_same_losses(sets):
    def begin():
        model = small_model()
        return model, torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)

    model, optimizer = begin()
    with loader_of(sets[0], seed=4) as loader:
        unbroken = train_epoch(model, optimizer, loader)

    model, optimizer = begin()
    losses = []
    with loader_of(sets[0], seed=4) as loader:
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == 4:
                break
        saved = loader.state_dict()
    with loader_of(sets[0], seed=4) as loader:
        loader.load_state_dict(saved)
        losses += train_epoch(model, optimizer, loader)
    assert losses == unbroken
