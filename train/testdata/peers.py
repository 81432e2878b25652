"""What scikit-learn predicts from the same features (train's TestPeers runs this).

    python3 peers.py FOLDER

FOLDER has train.svm and test.svm in svmlight form. Writes FOLDER/NAME.txt for each
peer: a class a line, in the order of test.svm.
"""
import sys
import warnings

from sklearn.datasets import load_svmlight_files
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

warnings.filterwarnings("ignore")
folder = sys.argv[1]
x, y, test, _ = load_svmlight_files([f"{folder}/train.svm", f"{folder}/test.svm"], zero_based=True)
peers = {
    "mlp": MLPClassifier(hidden_layer_sizes=(32,), random_state=1),
    "mlp-early": MLPClassifier(hidden_layer_sizes=(32,), early_stopping=True, random_state=1),
    "logistic": LogisticRegression(max_iter=1000),
    "forest": RandomForestClassifier(300, random_state=1),
}
for name, peer in peers.items():
    peer.fit(x, y)
    with open(f"{folder}/{name}.txt", "w") as out:
        out.writelines(f"{int(c)}\n" for c in peer.predict(test))
