package explain

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/ship"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestNamed: kinds are found by the names that kubectl knows.
func TestNamed(t *testing.T) {
	resource := func(group, plural, kind string, short ...string) ship.Served {
		return ship.Served{GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}, Kind: kind, Singular: strings.ToLower(kind), Short: short}
	}
	all := kinds{resource("", "events", "Event", "ev"), resource("events.k8s.io", "events", "Event", "ev"), resource("serving.knative.dev", "services", "Service", "kservice"), resource("", "services", "Service", "svc")}
	for text, want := range map[string]string{
		"ev": "", "Event": "", "events.events.k8s.io": "events.k8s.io", "event.events": "events.k8s.io", "service": "serving.knative.dev", "svc": "", "kservice": "serving.knative.dev",
		"SERVICES.serving.knative.dev": "serving.knative.dev",
	} {
		if got, ok := all.named(text); !ok || got.Group != want {
			t.Errorf("%s: got group %q, %t", text, got.Group, ok)
		}
	}
	for _, text := range []string{"", "eve", "event.apps", "evs"} {
		if got, ok := all.named(text); ok {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// TestConditions: what is at work is told from what is broken.
func TestConditions(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		condition string
		state     State
		cause     string
	}{
		"ready":            {"type: Ready, status: 'True', reason: Up", Ready, ""},
		"at work":          {"type: Ready, status: 'False', reason: Provisioning, message: wait", InProgress, ""},
		"at work for long": {"type: Ready, status: 'False', reason: Provisioning, message: wait, lastTransitionTime: '2020-01-01T00:00:00Z'", NotReady, "Provisioning: wait"},
		"broken":           {"type: Ready, status: 'False', reason: NoStock, message: the shelf is empty", NotReady, "NoStock: the shelf is empty"},
		"failed to begin":  {"type: Ready, status: 'False', reason: CreateFailed, message: it is refused", NotReady, "CreateFailed: it is refused"},
		"stalled":          {"type: Stalled, status: 'True', reason: Invalid, message: no such plan", NotReady, "Invalid: no such plan"},
		"without words":    {"type: Ready, status: 'False', reason: ''", NotReady, "NotReady: condition Ready is False"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(test.condition, "lastTransitionTime") {
				test.condition += ", lastTransitionTime: '" + now.UTC().Format(time.RFC3339) + "'"
			}
			m := &member{object: object(t, "{apiVersion: example.com/v1, kind: Order, metadata: {name: first}, status: {conditions: [{"+test.condition+"}]}}"), state: Ready}
			s := &scene{now: now}
			s.conditions(m)
			cause := ""
			if len(m.causes) > 0 {
				cause = m.causes[0].Reason + ": " + m.causes[0].Message
			}
			if m.state != test.state || cause != test.cause {
				t.Errorf("got %s, %q", m.state, cause)
			}
		})
	}
}

// TestSettle: the state of an object follows from what it says, and from what it owns.
func TestSettle(t *testing.T) {
	broken := []Cause{{Reason: "Crash", weight: concrete, depth: 2}}
	for name, test := range map[string]struct {
		top     member
		members []Member
		causes  []Cause
		want    State
	}{
		"all is well":          {member{state: Ready}, nil, nil, Ready},
		"a pod crashes":        {member{state: InProgress}, nil, broken, NotReady},
		"it says ready":        {member{state: Ready, says: true}, nil, broken, Ready},
		"a pod starts":         {member{state: Ready}, []Member{{}, {State: InProgress, Text: "it starts"}}, nil, InProgress},
		"waits for that":       {member{state: NotReady}, []Member{{}, {State: InProgress, Text: "it starts"}}, []Cause{{weight: symptom}}, InProgress},
		"says why":             {member{state: NotReady}, nil, []Cause{{weight: symptom}}, NotReady},
		"no operator":          {member{state: InProgress}, nil, []Cause{{weight: operating}}, NotReady},
		"writes are refused":   {member{state: Ready}, nil, []Cause{{weight: admission}}, Ready},
		"and it is not there":  {member{state: Missing}, nil, []Cause{{weight: admission}}, Missing},
		"and it is in the way": {member{state: InProgress}, nil, []Cause{{weight: admission}}, NotReady},
	} {
		a := Answer{State: test.top.state, Tree: test.members, Causes: test.causes}
		if a.settle(&test.top); a.State != test.want {
			t.Errorf("%s: got %s, want %s", name, a.State, test.want)
		}
	}
}

// TestStarts: a pod that starts as usual is not taken for one that is broken.
func TestStarts(t *testing.T) {
	now := time.Now()
	s := &scene{now: now}
	at := func(ago time.Duration) metav1.Time { return metav1.NewTime(now.Add(-ago)) }
	waiting := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	running := func(ago time.Duration, restarts int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "c", RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(ago)}}}
	}
	for name, test := range map[string]struct {
		status corev1.ContainerStatus
		usual  bool
	}{
		"is created":       {waiting("ContainerCreating"), true},
		"image is missing": {waiting("ErrImagePull"), false},
		"runs":             {running(time.Second, 0), true},
		"runs for long":    {running(time.Hour, 0), false},
		"runs again":       {running(time.Second, 1), false},
	} {
		pod := corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{test.status}}}
		if text, usual := s.starts(pod); usual != test.usual {
			t.Errorf("%s: got %q, %t", name, text, usual)
		}
	}
	if _, usual := s.starts(corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(time.Hour)}}); usual {
		t.Error("a pod that no node has taken for an hour is not usual")
	}
}

// TestReferences: what an object needs is found by the names of fields; what is optional is left out.
func TestReferences(t *testing.T) {
	m := &member{object: object(t, `
metadata: {namespace: ns, name: first}
spec:
  secretName: password
  template: {spec: {serviceAccountName: runner, imagePullSecrets: [{name: pull}], volumes: [{configMap: {name: settings}}, {secret: {secretName: maybe, optional: true}}, {persistentVolumeClaim: {claimName: data}}],
    containers: [{envFrom: [{secretRef: {name: env}}], env: [{valueFrom: {configMapKeyRef: {name: keys, key: a, optional: true}}}]}]}}
`), state: Ready}
	s := &scene{}
	spec, _, _ := unstructured.NestedMap(m.object.Object, "spec")
	s.walk(m, spec, ".spec", false)
	var got []string
	for _, r := range s.references {
		got = append(got, ship.RefText(r.Object))
	}
	slices.Sort(got)
	want := []string{"configmap/ns/settings", "persistentvolumeclaim/ns/data", "secret/ns/env", "secret/ns/password", "secret/ns/pull", "serviceaccount/ns/runner"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestExpired: a bundle has expired when all its certificates have.
func TestExpired(t *testing.T) {
	now := time.Now()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate := func(until time.Duration) []byte {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(until)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	s := &scene{now: now}
	old, young := certificate(-time.Hour), certificate(time.Hour)
	for name, test := range map[string]struct {
		bundle string
		want   bool
	}{
		"nothing": {"", false}, "no base64": {"%", false}, "no PEM": {base64.StdEncoding.EncodeToString([]byte("x")), false},
		"old": {base64.StdEncoding.EncodeToString(old), true}, "young": {base64.StdEncoding.EncodeToString(young), false},
		"one of two": {base64.StdEncoding.EncodeToString(slices.Concat(old, young)), false},
	} {
		if _, got := s.expired(test.bundle); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// TestSetter: the manager of a finalizer is found, also where its name is the end of another one's.
func TestSetter(t *testing.T) {
	o := object(t, `
metadata:
  managedFields:
  - {manager: other, time: '2026-01-01T00:00:00Z', fieldsV1: {'f:metadata': {'f:finalizers': {'v:"my.example.com/hold"': {}}}}}
  - {manager: op, time: '2026-01-02T00:00:00Z', fieldsV1: {'f:metadata': {'f:finalizers': {'v:"example.com/hold"': {}}}}}
`)
	if manager, at := setter(o, "example.com/hold"); manager != "op" || at.Day() != 2 {
		t.Errorf("got %s, %s", manager, at)
	}
	if manager, _ := setter(o, "example.com/free"); manager != "" {
		t.Errorf("got %s", manager)
	}
}
