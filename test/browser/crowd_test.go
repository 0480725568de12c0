package browser

import (
	"fmt"
	"strings"
	"time"
)

// crowd is how many objects the cluster of these tests has.
const crowd = 10000

// hostileText has markup, control characters and marks that reorder text.
const hostileText = `<img src=x onerror="window.hit=1"></script><script>window.hit=1</script>` + "\x1b[31m\u202e\u0007"

// began is when the recorded hour begins.
var began = time.Now().Add(-time.Hour).Truncate(time.Second)

type object struct {
	UID       string    `json:"uid"`
	Kind      string    `json:"kind"`
	Resource  string    `json:"resource"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	Owners    []string  `json:"owners,omitempty"`
	State     string    `json:"state"`
	Text      string    `json:"text,omitempty"`
	Created   time.Time `json:"created"`
}

// objects are those of a busy cluster: operators' objects with what they own, and many that own nothing.
func objects() []object {
	var all []object
	add := func(kind, resource, namespace, name, state, text string, owners ...string) string {
		uid := fmt.Sprintf("%08x-0000-4000-8000-000000000000", len(all))
		created := began.Add(time.Duration(len(all)) * 300 * time.Millisecond)
		all = append(all, object{uid, kind, resource, namespace, name, owners, state, text, created})
		return uid
	}
	for _, kind := range []string{"Order", "Shop", "Customer"} {
		add("CustomResourceDefinition", "customresourcedefinitions.apiextensions.k8s.io", "", strings.ToLower(kind)+"s.shop.example.com", "ready", "")
	}
	for i := range 3 {
		add("Node", "nodes", "", fmt.Sprintf("node-%d", i), "ready", "")
	}
	add("Namespace", "namespaces", "", "hostile", "ready", "")
	owner := add("ConfigMap", "configmaps", "hostile", strings.Repeat("a", 248)+".long", "not-ready", hostileText)
	add("Secret", "secrets", "hostile", "below-the-long-one", "in-progress", hostileText, owner)
	for i := 0; len(all) < crowd-300; i++ {
		namespace := fmt.Sprintf("shop-%d", i%12)
		if i < 12 {
			add("Namespace", "namespaces", "", namespace, "ready", "")
		}
		shopOf(add, namespace, i)
	}
	for i := 0; len(all) < crowd; i++ {
		add("ConfigMap", "configmaps", "kube-system", fmt.Sprintf("settings-%d", i), "ready", "")
	}
	return all
}

// shopOf adds an object of an operator with what it owns.
func shopOf(add func(kind, resource, namespace, name, state, text string, owners ...string) string, namespace string, i int) {
	name := fmt.Sprintf("order-%d", i)
	state, text := "ready", ""
	switch {
	case i%29 == 3:
		state, text = "not-ready", "Available: 1/3"
	case i%17 == 5:
		state, text = "in-progress", "Provisioning: 2/3"
	case i%61 == 7:
		state, text = "deleting", "waits for the finalizer shop.example.com/refund"
	}
	order := add("Order", "orders.shop.example.com", namespace, name, state, text)
	deployment := add("Deployment", "deployments.apps", namespace, name, state, text, order)
	set := add("ReplicaSet", "replicasets.apps", namespace, name+"-7fbf8fd88f", state, text, deployment)
	pods := 3
	if i%40 == 0 {
		pods = 60
	}
	for p := range pods {
		podState, podText := "ready", ""
		if state != "ready" && p == 0 {
			podState, podText = state, "CrashLoopBackOff: container app: the container ended with exit code 3; restarts: 4"
		}
		add("Pod", "pods", namespace, fmt.Sprintf("%s-7fbf8fd88f-%05x", name, i*64+p), podState, podText, set)
	}
	service := add("Service", "services", namespace, name, "ready", "", order)
	add("EndpointSlice", "endpointslices.discovery.k8s.io", namespace, name+"-x7k2p", "ready", "", service)
	add("ConfigMap", "configmaps", namespace, name+"-settings", "ready", "", order)
	add("Secret", "secrets", namespace, name+"-credentials", "ready", "")
	add("ServiceAccount", "serviceaccounts", namespace, name, "ready", "")
}

type entry map[string]any

// recorded is how many entries the record has.
const recorded = 3000

// entryAt is what was recorded at a number.
func entryAt(seq int) entry {
	e := entry{"seq": seq, "at": began.Add(time.Duration(seq) * 1200 * time.Millisecond), "who": "manager (ServiceAccount shop-system/manager)"}
	i := seq % 240
	name := fmt.Sprintf("order-%d", i)
	e["object"] = entry{"group": "apps", "resource": "deployments", "kind": "Deployment", "namespace": fmt.Sprintf("shop-%d", i%12), "name": name}
	e["by"] = entry{"user": "system:serviceaccount:shop-system:manager", "agent": "manager/v1.4.0 (linux/amd64)", "manager": "manager", "verb": "update"}
	switch seq % 11 {
	case 0, 1:
		e["kind"], e["type"] = "write", "updated"
		e["changes"] = []entry{{"path": ".spec.replicas", "before": 2, "after": 3}, {"path": ".spec.template.spec.containers[name=app].image", "before": "registry.example.com/shop/app:v1.4.0", "after": "registry.example.com/shop/app:v1.4.1"}, {"path": ".metadata.labels[example.com/revision]", "after": "12"}}
		e["reconcile"], e["inferred"] = fmt.Sprintf("reconcile-%d", i), seq%2 == 0
	case 2:
		e["kind"], e["type"] = "write", "created"
		e["object"] = entry{"resource": "pods", "kind": "Pod", "namespace": "shop-1", "name": name + "-7fbf8fd88f-00040"}
		e["changes"] = []entry{{"path": "", "after": entry{"metadata": entry{"name": name, "labels": entry{"app": "shop", "tier": "front"}}, "spec": entry{"containers": []entry{{"name": "app", "image": "registry.example.com/shop/app:v1.4.1", "args": []string{"--port=8080", "--log-level=debug"}}}, "restartPolicy": "Always", "serviceAccountName": "shop"}}}}
	case 3:
		e["kind"], e["status"], e["reason"] = "refusal", 403, "Forbidden"
		e["message"] = `deployments.apps "` + name + `" is forbidden: User "system:serviceaccount:shop-system:manager" cannot patch resource "deployments" in API group "apps" in the namespace "shop-1"`
	case 4:
		e["kind"], e["type"], e["reason"], e["message"], e["count"] = "event", "Warning", "BackOff", "Back-off restarting failed container app in pod "+name, 7
		e["who"] = "kubelet"
	case 5:
		e["kind"], e["level"], e["message"] = "line", "error", "start an instance: pods is forbidden: exceeded quota: pods=10"
		e["operator"], e["controller"], e["reconcile"] = "shop", "order", fmt.Sprintf("reconcile-%d", i)
		e["who"] = "shop"
	case 6:
		e["kind"], e["status"], e["latencyMs"] = "request", 200, 3.4
	case 7:
		e["kind"], e["type"] = "delivery", "MODIFIED"
	case 8:
		e["kind"], e["type"], e["idle"] = "write", "updated", true
	case 9:
		e["kind"], e["type"] = "write", "updated"
		e["object"] = entry{"resource": "configmaps", "kind": "ConfigMap", "namespace": "shop-2", "name": name + "-settings"}
		e["changes"] = []entry{{"path": ".data[settings.yaml]", "before": settings(40, "2"), "after": settings(40, "5")}}
	case 10:
		e["kind"], e["message"] = "line", hostileText
		e["operator"], e["level"], e["who"] = "shop", "info", hostileText
	}
	if seq%400 == 0 {
		return entry{"seq": seq, "at": e["at"], "kind": "gap", "missed": 12}
	}
	if seq == 1 || seq == 1500 {
		return entry{"seq": seq, "at": e["at"], "kind": "marker", "type": map[bool]string{true: "began", false: "reset"}[seq == 1]}
	}
	return e
}

// settings is a text of many lines.
func settings(lines int, value string) string {
	var text strings.Builder
	for i := range lines {
		if i == lines/2 {
			fmt.Fprintf(&text, "retries: %s\n", value)
		}
		fmt.Fprintf(&text, "setting-%d: a value that stays as it is\n", i)
	}
	return text.String()
}
