"""Select columns in a scikit-learn pipeline, under nested cross-validation.

    python examples/sklearn_pipeline.py

The data are scikit-learn's breast cancer set: 569 tumours with 30 measurements each. Three classifiers use all columns,
or those that a `MarkovBlanketSelector` selects. A cross-validation inside the training part of each fold chooses the
settings of the selector, so the test rows do not affect the selection.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import serape

CLASSIFIERS = {
    "naive Bayes": GaussianNB(),
    "nearest neighbours": KNeighborsClassifier(),
    "logistic regression": LogisticRegression(max_iter=1000),
}
CORRELATIONS = {"select__target_kind": ["continuous"], "select__alpha": [0.001, 0.05]}
CLASSES = {"select__discretise": ["quantile"], "select__bins": [3], "select__alpha": [0.001, 0.05]}
OUTER = StratifiedKFold(n_splits=5, shuffle=True, random_state=1)
INNER = StratifiedKFold(n_splits=3, shuffle=True, random_state=1)


def compare(X: Any, y: Any, classifier: Any, choices: list[dict[str, Any]]) -> str:
    """Return a row: accuracy with all columns and with blankets, their size, folds in which they win and lose."""
    plain = Pipeline([("scale", StandardScaler()), ("classify", clone(classifier))])
    selecting = Pipeline([("select", serape.MarkovBlanketSelector()), *plain.steps])
    everything = cross_validate(plain, X, y, cv=OUTER)["test_score"]
    found = cross_validate(GridSearchCV(selecting, choices, cv=INNER), X, y, cv=OUTER, return_estimator=True)
    blanket = found["test_score"]
    sizes = [len(search.best_estimator_["select"].blanket_) for search in found["estimator"]]
    better, worse = (blanket > everything).sum(), (blanket < everything).sum()
    return f"{everything.mean():.3f}  {blanket.mean():.3f}  {np.mean(sizes):5.1f}  {better:6}  {worse:5}"


if __name__ == "__main__":
    tumours, diagnosis = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = tumours.to_numpy(), diagnosis.to_numpy()
    print(f"{'':32}all    blanket  size  better  worse")
    for name, classifier in CLASSIFIERS.items():
        print(f"{name:30}  {compare(X, y, classifier, [CORRELATIONS, CLASSES])}")
    noisy = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 100))])
    print(f"{name + ', noise':30}  {compare(noisy, y, classifier, [CLASSES])}")
    selector = serape.MarkovBlanketSelector(discretise="quantile", bins=3).fit(tumours, diagnosis)
    print("\nin all rows:", ", ".join(selector.blanket_))
    print(selector.result_.explain("mean radius"))
