// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ingressv1beta1 "example.com/app/api/v1beta1"
)

// An App's life: its parts come and go as it says, what others change comes back, and its end leaves nothing.
func TestLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	app := f.app("main", 2)
	f.create(app)
	f.waitFor(app, ingressv1beta1.ReasonReady)
	f.wantParts(app, "Deployment", "Service", "Ingress")
	f.wantDescribed(app)
	f.wantEvent(app, "Created")
	f.account.AtRest(t, o.pass(app))

	f.change(app, func(s *ingressv1beta1.AppSpec) { s.EnableIngress = new(false) })
	f.wantParts(app, "Deployment", "Service")
	f.change(app, func(s *ingressv1beta1.AppSpec) { s.EnableService = false })
	f.wantParts(app, "Deployment")
	f.wantEvent(app, "Deleted")
	f.account.AtRest(t, o.pass(app))
	f.change(app, func(s *ingressv1beta1.AppSpec) {
		s.EnableService, s.EnableIngress, s.Replicas, s.Image = true, new(true), 3, "nginx:1.30"
	})
	f.wantParts(app, "Deployment", "Service", "Ingress")
	f.wantDescribed(app)

	f.spoil(app)

	if err := f.user.Delete(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	cluster.Cluster(t).WaitForEmpty(t, f.namespace)
	// Clusters that protect owners ask for the permission on finalizers; this one does not.
	f.account.LeastPermissions(t, "update apps/finalizers.ingress.baiding.tech")
}

// wantParts checks which parts of an App are there, and that they belong to it.
func (f *fixture) wantParts(app *ingressv1beta1.App, want ...string) {
	f.Helper()
	f.eventually("the parts are "+strings.Join(want, ", "), func() (bool, error) {
		var got []string
		for _, p := range parts(app) {
			err := f.user.Get(f.Context(), client.ObjectKeyFromObject(p.object), p.object)
			if client.IgnoreNotFound(err) != nil {
				return false, err
			}
			if err == nil && metav1.IsControlledBy(p.object, app) {
				got = append(got, p.kind)
			}
		}
		return slices.Equal(got, want), nil
	})
}

// live reads the parts of an App that has all of them.
func (f *fixture) live(app *ingressv1beta1.App) (*appsv1.Deployment, *corev1.Service, *networkingv1.Ingress) {
	f.Helper()
	all := parts(app)
	for _, p := range all {
		if err := f.user.Get(f.Context(), client.ObjectKeyFromObject(p.object), p.object); err != nil {
			f.Fatal(err)
		}
	}
	return all[0].object.(*appsv1.Deployment), all[1].object.(*corev1.Service), all[2].object.(*networkingv1.Ingress)
}

// wantDescribed checks that the parts lead to each other, and are as the App says.
func (f *fixture) wantDescribed(app *ingressv1beta1.App) {
	f.Helper()
	deployment, service, ingress := f.live(app)
	if image := deployment.Spec.Template.Spec.Containers[0].Image; image != app.Spec.Image || *deployment.Spec.Replicas != app.Spec.Replicas {
		f.Errorf("the Deployment has %d pods with %s", *deployment.Spec.Replicas, image)
	}
	for name, value := range service.Spec.Selector {
		if deployment.Spec.Template.Labels[name] != value {
			f.Errorf("the Service selects %s=%s, which the pods are not labelled with", name, value)
		}
	}
	rule := ingress.Spec.Rules[0]
	if backend := rule.HTTP.Paths[0].Backend.Service; backend.Name != service.Name || backend.Port.Name != service.Spec.Ports[0].Name {
		f.Errorf("the Ingress leads to %+v", backend)
	}
	if want := "main." + f.namespace + ".apps.example.com"; rule.Host != want || app.Status.Host != want {
		f.Errorf("the host is %s, and %s in the status", rule.Host, app.Status.Host)
	}
	if app.Status.ReadyReplicas != app.Spec.Replicas {
		f.Errorf("the status says %d of %d pods", app.Status.ReadyReplicas, app.Spec.Replicas)
	}
}

// spoil changes and deletes parts as a user may by mistake, and waits until all is as it was. What the App has no
// opinion about stays.
func (f *fixture) spoil(app *ingressv1beta1.App) {
	f.Helper()
	deployment, service, ingress := f.live(app)
	deployment.Spec.Replicas, deployment.Spec.RevisionHistoryLimit = new(int32(7)), new(int32(2))
	service.Spec.Ports[0].Port = 8080
	ingress.Spec.Rules[0].Host = "elsewhere.example.com"
	for _, o := range []client.Object{deployment, service, ingress} {
		if err := f.user.Update(f.Context(), o); err != nil {
			f.Fatal(err)
		}
	}
	f.eventually("the parts are as they were", func() (bool, error) {
		deployment, service, ingress = f.live(app)
		return *deployment.Spec.Replicas == app.Spec.Replicas && service.Spec.Ports[0].Port == port && ingress.Spec.Rules[0].Host == host(app), nil
	})
	if err := f.user.Delete(f.Context(), ingress); err != nil {
		f.Fatal(err)
	}
	f.wantParts(app, "Deployment", "Service", "Ingress")
	if *deployment.Spec.RevisionHistoryLimit != 2 {
		f.Error("a field was changed back that Apps have no opinion about")
	}
	f.waitFor(app, ingressv1beta1.ReasonReady)
}

// wantEvent waits for an event about an App.
func (f *fixture) wantEvent(app *ingressv1beta1.App, reason string) {
	f.Helper()
	f.eventually("an event "+reason, func() (bool, error) {
		var list corev1.EventList
		err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace))
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.UID == app.UID
		}), err
	})
}

// Objects that something else made are left alone, wanted or not, and the other parts are there.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	app := f.app("taken", 0)
	foreign := parts(app)[1]
	foreign.describe()
	f.create(foreign.object, app)
	f.waitFor(app, ingressv1beta1.ReasonNameTaken)
	f.wantParts(app, "Deployment", "Ingress")
	if message := app.Status.Conditions[0].Message; !strings.Contains(message, "of kind Service") {
		t.Errorf("the condition says %s", message)
	}
	f.account.AtRest(t, o.pass(app))
	f.change(app, func(s *ingressv1beta1.AppSpec) { s.EnableService = false })
	if err := f.user.Get(t.Context(), client.ObjectKeyFromObject(app), foreign.object); err != nil {
		t.Errorf("the Service of something else: %v", err)
	}

	before := app.DeepCopy()
	app.Spec.EnableService = true
	if err := f.user.Patch(t.Context(), app, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	f.waitFor(app, ingressv1beta1.ReasonNameTaken)
	if err := f.user.Delete(t.Context(), foreign.object); err != nil {
		t.Fatal(err)
	}
	f.waitFor(app, ingressv1beta1.ReasonReady)
}

// A part that the API server refuses is reported with its answer, and tried again.
func TestFailed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	app := f.app("failed", 0)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "none"}}
	quota.Spec.Hard = corev1.ResourceList{"count/ingresses.networking.k8s.io": {}}
	f.create(quota)
	f.eventually("the quota counts", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(quota), quota)
		return quota.Status.Hard != nil, err
	})
	f.create(app)
	f.waitFor(app, ingressv1beta1.ReasonFailed)
	if message := app.Status.Conditions[0].Message; !strings.Contains(message, "the Ingress: ") || !strings.Contains(message, "exceeded quota") {
		t.Errorf("the condition says %s", message)
	}
	f.wantParts(app, "Deployment", "Service")
	if err := f.user.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	f.waitFor(app, ingressv1beta1.ReasonReady)
}

// Each write fails once, lost or unanswered, and the App becomes what it should all the same.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	n := 0
	f.account.Interrupt(t, func(t *testing.T) {
		n++
		app := f.app(fmt.Sprintf("interrupted-%d", n), 0)
		f.create(app)
		f.waitFor(app, ingressv1beta1.ReasonReady)
		f.wantParts(app, "Deployment", "Service", "Ingress")
		f.change(app, func(s *ingressv1beta1.AppSpec) { s.EnableService = false })
		f.wantParts(app, "Deployment")
	})
}

// many is how many objects come at once, and attempts how many writes each may cost: three parts, the status while
// its pod starts and when it is ready, and one to spare.
const (
	many     = 200
	attempts = 6
)

// Many Apps at once come to rest, and a new operator leaves all of them alone.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	o := f.start()
	apps := make([]*ingressv1beta1.App, many)
	keys := make([]client.ObjectKey, many)
	for i := range apps {
		apps[i] = f.app(fmt.Sprintf("many-%d", i), 0)
		keys[i] = client.ObjectKeyFromObject(apps[i])
		f.create(apps[i])
	}
	for _, app := range apps {
		f.waitFor(app, ingressv1beta1.ReasonReady)
	}
	f.account.FewWrites(t, many, attempts)
	o.stop()

	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})
}

// What users of kubectl see, and what the schema refuses.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	app := f.app("seen", 1)
	f.create(app)
	f.waitFor(app, ingressv1beta1.ReasonReady)
	c := cluster.Cluster(t)
	out, err := c.Kubectl(t, "get", "apps", "--namespace", f.namespace, "--output", "wide")
	want := []string{"NAME", "REPLICAS", "READY", "AVAILABLE", "HOST", "REASON", "IMAGE", "AGE", "seen", "1", "1", "True", app.Status.Host, "Ready", "nginx:1.29"}
	if words := strings.Fields(out); err != nil || len(words) != len(want)+1 || !slices.Equal(words[:len(want)], want) {
		t.Errorf("get prints %q, %v", out, err)
	}
	if out, err := c.Kubectl(t, "explain", "app.spec.enable_ingress"); err != nil || !strings.Contains(out, "asks for an Ingress of the App's name") {
		t.Errorf("explain prints %q, %v", out, err)
	}
	for _, test := range []struct{ patch, want string }{
		{`{"spec":{"image":""}}`, "spec.image in body should be at least 1 chars long"},
		{`{"spec":{"image":null}}`, "spec.image: Required value"},
		{`{"spec":{"replicas":-1}}`, "spec.replicas in body should be greater than or equal to 0"},
		{`{"spec":{"replicas":null}}`, "spec.replicas: Required value"},
		{`{"spec":{"enable_service":null}}`, "spec.enable_service: Required value"},
	} {
		if _, err := c.Kubectl(t, "patch", "app", "seen", "--namespace", f.namespace, "--type=merge", "--patch", test.patch); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.patch, err, test.want)
		}
	}
	for _, name := range []string{"a.b", "1a", strings.Repeat("a", 64)} {
		if _, err := c.Kubectl(t, "create", "--filename", c.Manifest(t, f.app(name, 1))); err == nil || !strings.Contains(err.Error(), "one that a Service may have") {
			t.Errorf("the name %s: %v", name, err)
		}
	}
	f.create(f.app(strings.Repeat("a", 63), 0))
}

// What is reported of an error is short enough for an event.
func TestShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"why": "why", strings.Repeat("é", maxMessage): strings.Repeat("é", maxMessage/2) + "…"} {
		if got := short(errors.New(text)); got != want {
			t.Errorf("%d bytes become %d: %s", len(text), len(got), got)
		}
	}
}
