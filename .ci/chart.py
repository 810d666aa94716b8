"""Lints examples/deploy/helm with Helm's library, and checks what it renders, and the container of Cloud Run, by the schemas of Kubernetes."""
import pathlib
import sys

import kubernetes_validate
import yaml
from helm_python.chart import Chart, lint

ROOT = pathlib.Path(sys.argv[1])
# One of the versions whose schemas there are.
KUBERNETES = "1.36"
VALUES = {
    "without values": {},
    "with each value": {
        "image": {"repository": "registry.example/onesheet", "tag": "9"}, "replicas": 2, "secret": "onesheet-keys",
        "configuration": {"signing": {"keys": []}, "sources": {"sample": {"type": "sample"}}},
        "storage": {"size": "1Gi", "class": "fast"}, "resources": {"limits": {"memory": "2Gi"}},
        "ingress": {"host": "posters.example", "class": "nginx", "tls": "posters-tls"},
    },
}


def check(each):
    """Fails if an object is not as Kubernetes has it, with the place."""
    try:
        kubernetes_validate.validate(each, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        sys.exit(f"{each['kind']}: {'/'.join(map(str, error.path))}: {error.message}")


def rendered(values):
    """The objects of the chart by kind; each is valid."""
    found = lint(ROOT / "helm", values, strict=True)
    # An icon is recommended.
    bad = [message for message in found["messages"] if message["severity"] > 1] + found["errors"]
    assert not bad, bad
    texts = Chart.load(ROOT / "helm").render(values, name="posters").values()
    objects = [each for text in texts for each in yaml.safe_load_all(text) if each]
    for each in objects:
        check(each)
    return {each["kind"]: each for each in objects}


def check_values():
    plain, full = rendered(VALUES["without values"]), rendered(VALUES["with each value"])
    assert sorted(plain) == ["ConfigMap", "Service", "StatefulSet"], sorted(plain)
    assert sorted(full) == ["ConfigMap", "Ingress", "Service", "StatefulSet"], sorted(full)
    # The image is that of the version, and each value is where it belongs.
    version = yaml.safe_load((ROOT / "helm/Chart.yaml").read_text())["appVersion"]
    container = lambda objects: objects["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]  # noqa: E731
    assert container(plain)["image"] == f"onesheet:{version}" and "envFrom" not in container(plain)
    assert container(full)["image"] == "registry.example/onesheet:9"
    assert container(full)["envFrom"] == [{"secretRef": {"name": "onesheet-keys"}}]
    assert container(full)["resources"]["limits"] == {"memory": "2Gi"}
    assert full["StatefulSet"]["spec"]["replicas"] == 2
    claim = full["StatefulSet"]["spec"]["volumeClaimTemplates"][0]["spec"]
    assert claim["storageClassName"] == "fast" and claim["resources"]["requests"] == {"storage": "1Gi"}, claim
    file = yaml.safe_load(full["ConfigMap"]["data"]["onesheet.yaml"])
    # Values are merged, key by key.
    assert file["sources"] == {"sample": {"type": "sample"}} and file["clients"] == {"trustedProxies": ["private"]}, file
    ingress = full["Ingress"]["spec"]
    assert ingress["rules"][0]["host"] == "posters.example" and ingress["tls"][0]["secretName"] == "posters-tls", ingress
    # It leads to images, and to a port that there is.
    paths = ingress["rules"][0]["http"]["paths"]
    assert [path["path"] for path in paths] == ["/t/p/", "/i/"], paths
    ports = {port["name"] for port in full["Service"]["spec"]["ports"]}
    assert all(path["backend"]["service"] == {"name": "posters", "port": {"name": "http"}} for path in paths) and "http" in ports
    # The service finds the pods, and a new configuration restarts them.
    pods = [objects["StatefulSet"]["spec"]["template"]["metadata"] for objects in (plain, full)]
    assert full["Service"]["spec"]["selector"].items() <= pods[1]["labels"].items()
    assert pods[0]["annotations"] != pods[1]["annotations"]


def check_cloud_run():
    service = yaml.safe_load((ROOT / "cloud-run/service.yaml").read_text())
    assert service["apiVersion"] == "serving.knative.dev/v1" and service["kind"] == "Service"
    spec = dict(service["spec"]["template"]["spec"])
    # What Knative adds to a pod.
    own = {name: spec.pop(name) for name in ("containerConcurrency", "timeoutSeconds")}
    assert all(value > 0 for value in own.values()), own
    check({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "onesheet"}, "spec": spec})


check_values()
check_cloud_run()
