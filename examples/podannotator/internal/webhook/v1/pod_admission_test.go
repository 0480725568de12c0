// Copyright 2026 The podannotator authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// A Pod's annotation from its creation on: it says who, whatever its author claims, and stays as it is.
func TestLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	out := f.must(append([]string{"run", "tried", "--image=" + image, "--dry-run=server", "--output=yaml"}, asJane...)...)
	if !strings.Contains(out, CreatedBy+": jane") {
		t.Errorf("a dry run shows %s", out)
	}
	f.must(append([]string{"run", "web", "--image=" + image}, asJane...)...)
	f.wantCreator("web", "jane")
	f.must(append([]string{"run", "forged", "--image=" + image, "--annotations=" + CreatedBy + "=root"}, asJane...)...)
	f.wantCreator("forged", "jane")

	f.must("annotate", "pod", "web", "--overwrite", CreatedBy+"=root")
	f.wantCreator("web", "jane")
	f.must("annotate", "pod", "web", CreatedBy+"-")
	f.wantCreator("web", "jane")
	f.must("patch", "pod", "web", "--subresource=status", "--type=merge", `--patch={"metadata":{"annotations":{"`+CreatedBy+`":"root"}}}`)
	f.wantCreator("web", "jane")

	f.must("create", "deployment", "web", "--image="+image)
	f.must("rollout", "status", "deployment/web")
	if out := f.must("get", "pods", "--selector=app=web", "--output=yaml"); !strings.Contains(out, CreatedBy+": system:") {
		t.Errorf("the Deployment's pod was not created by a controller: %s", out)
	}
	f.must("delete", "deployment", "web")
	f.must("delete", "pods", "--all", "--now")
	f.WaitForEmpty(t, f.namespace)
	f.wantLeastPermissions()
}

// wantLeastPermissions checks that the operator asked the API server for nothing, and may do nothing.
func (f *fixture) wantLeastPermissions() {
	f.Helper()
	f.account.LeastPermissions(f.T)
	if requests := f.account.Requests(f.T); len(requests) > 0 {
		f.Errorf("%d requests, first: %s", len(requests), requests[0])
	}
}

// While the operator is down, new Pods are refused, but not where that would keep the cluster or the operator from
// coming back, and Pods that are there go on: their updates are not asked about.
func TestOperatorDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stop := f.start()
	f.must("run", "before", "--image="+image)
	f.must("wait", "pod/before", "--for=condition=Ready")
	stop()

	if _, err := f.kubectl("run", "during", "--image="+image); err == nil || !strings.Contains(err.Error(), `failed calling webhook "mpod-v1.kb.io"`) {
		t.Errorf("a Pod is created while the operator is down: %v", err)
	}
	f.must("create", "namespace", "podannotator-system")
	for _, exempt := range []string{"kube-system", "podannotator-system"} {
		pod := f.pod("during")
		pod.Namespace = exempt
		if err := f.admin.Create(t.Context(), pod); err != nil {
			t.Errorf("%s: %v", exempt, err)
		}
		if by, set := pod.Annotations[CreatedBy]; set {
			t.Errorf("%s: created by %q", exempt, by)
		}
	}
	f.must("label", "pod", "before", "tier=front")
	f.must("patch", "pod", "before", "--subresource=status", "--type=merge", `--patch={"status":{"message":"m"}}`)
	if _, err := f.kubectl("annotate", "pod", "before", "--overwrite", CreatedBy+"=root"); err == nil {
		t.Error("an annotation is forged while the operator is down")
	}
	f.must("delete", "pod", "before", "--now")

	f.start()
	f.must("run", "after", "--image="+image)
	f.wantCreator("after", "kubernetes-admin")
}

// A Pod from a time without the operator gets no creator later, not even by its own claim.
func TestPodFromBefore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.must("delete", "mutatingwebhookconfigurations", "--all")
	pod := f.pod("old")
	if err := f.admin.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	f.InstallWebhooks(t, "../../../config/webhook")
	f.start()
	f.must("annotate", "pod", "old", CreatedBy+"=root", "example.com/other=kept")
	f.wantCreator("old", "")
	if err := f.admin.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.Annotations["example.com/other"] != "kept" {
		t.Errorf("other annotations are %v, %v", pod.Annotations, err)
	}
}

// many is how many Pods come at once.
const many = 200

// Many Pods at once cost one call each: what happens to them until they are ready costs none.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	f.start()
	before := calls(t)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(10)
	for i := range many {
		group.Go(func() error { return f.admin.Create(ctx, f.pod(fmt.Sprintf("many-%d", i))) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	f.eventually("all Pods run", func() (bool, error) {
		var list corev1.PodList
		err := f.admin.List(t.Context(), &list, client.InNamespace(f.namespace))
		running := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool {
			return p.Status.Phase != corev1.PodRunning || p.Annotations[CreatedBy] == ""
		})
		return len(running) == many, err
	})
	if n := calls(t) - before; n != many {
		t.Errorf("%d Pods cost %d calls", many, n)
	}
	f.wantLeastPermissions()
}

// calls is how often the webhook answered.
func calls(t *testing.T) (n int) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "controller_runtime_webhook_requests_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			n += int(m.GetCounter().GetValue())
		}
	}
	return n
}

// The namespace that is left out is the one that config/default deploys to.
func TestOwnNamespace(t *testing.T) {
	t.Parallel()
	deployed, err := cluster.Cluster(t).Kubectl(t, "kustomize", "../../../config/default")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  namespace: podannotator-system", "      - podannotator-system", "      - kube-system"} {
		if !slices.Contains(strings.Split(deployed, "\n"), want) {
			t.Errorf("what is deployed has no line %q", want)
		}
	}
}
