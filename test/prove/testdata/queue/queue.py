"""An operator with Python's standard library: a Queue gets a ConfigMap for each of its topics.

With the argument "swallow" it makes a mistake that event loops often have: it logs an error of one queue, and goes on
to wait for the next event instead of trying again.
"""

import base64
import json
import os
import re
import ssl
import sys
import tempfile
import time
import urllib.error
import urllib.request

QUEUES = "/apis/prove.example.com/v1/queues"
SWALLOW = "swallow" in sys.argv


class Cluster:
    """What the kubeconfig leads to."""

    def __init__(self, kubeconfig):
        text = open(kubeconfig).read()

        def value(key):
            found = re.search(rf'^[\s-]*"?{key}"?:\s*"?([^"\s,]+)', text, re.M)
            return found and found.group(1)

        self.server = value("server")
        self.token = value("token")
        authority = value("certificate-authority-data")
        self.context = ssl.create_default_context(cadata=authority and base64.b64decode(authority).decode())
        if value("client-certificate-data"):
            with tempfile.NamedTemporaryFile() as pair:
                pair.write(base64.b64decode(value("client-certificate-data")) + b"\n" + base64.b64decode(value("client-key-data")))
                pair.flush()
                self.context.load_cert_chain(pair.name)

    def open(self, method, path, body=None, timeout=10):
        request = urllib.request.Request(self.server + path, method=method, data=body and json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        return urllib.request.urlopen(request, context=self.context, timeout=timeout)

    def call(self, method, path, body=None):
        with self.open(method, path, body) as answer:
            return json.load(answer)


def reconcile(cluster, queue):
    """Brings the ConfigMaps of a queue to what its topics are."""
    meta = queue["metadata"]
    maps = f"/api/v1/namespaces/{meta['namespace']}/configmaps"
    wanted = {f"{meta['name']}-{topic}": topic for topic in queue["spec"].get("topics", [])}
    listed = cluster.call("GET", f"{maps}?labelSelector=queue={meta['name']}")["items"]
    found = {m["metadata"]["name"] for m in listed if m["metadata"]["ownerReferences"][0]["uid"] == meta["uid"]}
    for name in sorted(found - wanted.keys()):
        cluster.call("DELETE", f"{maps}/{name}")
    for name in sorted(wanted.keys() - found):
        owner = {"apiVersion": queue["apiVersion"], "kind": "Queue", "name": meta["name"], "uid": meta["uid"], "controller": True}
        cluster.call("POST", maps, {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {"queue": meta["name"]}, "ownerReferences": [owner]},
            "data": {"topic": wanted[name]},
        })
    if queue.get("status", {}).get("observedGeneration") != meta["generation"]:
        queue["status"] = {"observedGeneration": meta["generation"]}
        cluster.call("PUT", f"/apis/prove.example.com/v1/namespaces/{meta['namespace']}/queues/{meta['name']}/status", queue)


def reconcile_all(cluster):
    """Reconciles all queues, and returns the version of the list and whether all went well."""
    listed, well = cluster.call("GET", QUEUES), True
    for queue in listed["items"]:
        queue.update(apiVersion="prove.example.com/v1", kind="Queue")
        try:
            reconcile(cluster, queue)
        except (OSError, ValueError) as error:
            print(f"cannot reconcile {queue['metadata']['name']}: {error}", file=sys.stderr, flush=True)
            well = False
    return listed["metadata"]["resourceVersion"], well or SWALLOW


def main():
    cluster = Cluster(os.environ["KUBECONFIG"])
    while True:
        try:
            version, well = reconcile_all(cluster)
            if well:
                with cluster.open("GET", f"{QUEUES}?watch=true&resourceVersion={version}", timeout=300) as events:
                    events.readline()  # whatever has happened, all is looked at again
                continue
        except (OSError, ValueError) as error:
            print(f"cannot look at the queues: {error}", file=sys.stderr, flush=True)
        time.sleep(0.2)


main()
