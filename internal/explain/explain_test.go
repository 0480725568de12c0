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

	"github.com/slipway-dev/slipway/internal/report"
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
	starting := Member{Object: report.ObjectRef{Kind: "Pod"}, State: InProgress, Text: "it starts"}
	broken := []Cause{{Reason: "Crash", weight: concrete, depth: 2}}
	for name, test := range map[string]struct {
		top     member
		members []Member
		causes  []Cause
		want    State
	}{
		"it has failed":       {member{state: NotReady, failed: true}, []Member{{}, starting}, []Cause{{weight: symptom}}, NotReady},
		"a claim waits":       {member{state: NotReady}, []Member{{}, {State: InProgress, Text: "no volume"}}, []Cause{{weight: symptom}}, NotReady},
		"all is well":         {member{state: Ready}, nil, nil, Ready},
		"a pod crashes":       {member{state: InProgress}, nil, broken, NotReady},
		"it says ready":       {member{state: Ready, says: true}, nil, broken, Ready},
		"a pod starts":        {member{state: Ready}, []Member{{}, starting}, nil, InProgress},
		"waits for that":      {member{state: NotReady}, []Member{{}, starting}, []Cause{{weight: symptom}}, InProgress},
		"says why":            {member{state: NotReady}, nil, []Cause{{weight: symptom}}, NotReady},
		"no operator":         {member{state: InProgress}, nil, []Cause{{weight: operating}}, NotReady},
		"writes are refused":  {member{state: Ready}, nil, []Cause{{weight: admission}}, Ready},
		"and it is not there": {member{state: Missing}, nil, []Cause{{weight: admission}}, Missing},
		"and it is at work":   {member{state: InProgress}, nil, []Cause{{weight: admission}}, InProgress},
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
	no := false
	slow := running(10*time.Minute, 0)
	slow.Started = &no
	for name, test := range map[string]struct {
		pod   corev1.Pod
		usual bool
	}{
		"prepares for long": {corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "c"}}}, Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{running(time.Hour, 0)}}}, true},
		"has not started":   {corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", StartupProbe: &corev1.Probe{}}}}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{slow}}}, true},
		"may take its time": {corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", ReadinessProbe: &corev1.Probe{InitialDelaySeconds: 900}}}}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{slow}}}, true},
		"took its time":     {corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", ReadinessProbe: &corev1.Probe{InitialDelaySeconds: 90}}}}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{slow}}}, false},
	} {
		if text, usual := s.starts(test.pod); usual != test.usual {
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
  template: {spec: {serviceAccountName: runner, imagePullSecrets: [{name: pull}], volumes: [{configMap: {name: settings}}, {secret: {secretName: maybe, optional: true}}, {persistentVolumeClaim: {claimName: data}}, {secret: {secretName: ../../../../api}}],
    containers: [{envFrom: [{secretRef: {name: env}}], env: [{valueFrom: {configMapKeyRef: {name: keys, key: a, optional: true}}}]}]}}
  tokenSecretRef: {name: token, namespace: other}
`), state: Ready}
	s := &scene{}
	spec, _, _ := unstructured.NestedMap(m.object.Object, "spec")
	s.walk(m, spec, ".spec", false)
	var got []string
	for _, r := range s.references {
		got = append(got, ship.RefText(r.Object))
	}
	slices.Sort(got)
	want := []string{"configmap/ns/settings", "persistentvolumeclaim/ns/data", "secret/ns/env", "secret/ns/password", "serviceaccount/ns/runner"}
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

// TestForgive: what an owner does not need any more is no reason for it not to be ready.
func TestForgive(t *testing.T) {
	owner := func(kind, apiVersion, revision string, state State) *member {
		return &member{object: object(t, "{apiVersion: "+apiVersion+", kind: "+kind+", metadata: {name: x, annotations: {deployment.kubernetes.io/revision: '"+revision+"'}}}"), state: state}
	}
	for name, test := range map[string]struct {
		above  []*member // from the top
		reason string
		state  State
		want   State
	}{
		"a Job's first try":            {[]*member{owner("Job", "batch/v1", "", Ready)}, "ContainerFailed", NotReady, Ready},
		"a failed Job's":               {[]*member{owner("Job", "batch/v1", "", NotReady)}, "ContainerFailed", NotReady, NotReady},
		"an evicted pod":               {[]*member{owner("Deployment", "apps/v1", "1", Ready), owner("ReplicaSet", "apps/v1", "1", Ready)}, "Evicted", NotReady, Ready},
		"a crash between two attempts": {[]*member{owner("Deployment", "apps/v1", "1", Ready), owner("ReplicaSet", "apps/v1", "1", Ready)}, crashLoop, NotReady, NotReady},
		"of an older template":         {[]*member{owner("Deployment", "apps/v1", "2", InProgress), owner("ReplicaSet", "apps/v1", "1", InProgress)}, crashLoop, NotReady, InProgress},
		"of the newest template":       {[]*member{owner("Deployment", "apps/v1", "2", InProgress), owner("ReplicaSet", "apps/v1", "2", InProgress)}, crashLoop, NotReady, NotReady},
		"one that is being deleted":    {[]*member{owner("Deployment", "apps/v1", "1", InProgress), owner("ReplicaSet", "apps/v1", "1", InProgress)}, "NotEnded", Stuck, InProgress},
		"below a custom resource":      {[]*member{owner("Boat", "example.com/v1", "", Ready)}, "Evicted", NotReady, NotReady},
	} {
		t.Run(name, func(t *testing.T) {
			pod := owner("Pod", "v1", "", test.state)
			pod.causes = []Cause{{Reason: test.reason, weight: concrete}}
			s := &scene{members: append(test.above, pod)}
			for i, m := range s.members[1:] {
				m.above, m.depth = s.members[i], i+1
			}
			s.forgive()
			s.spread()
			if got := s.answer(); got.State != test.want {
				t.Errorf("got %s, %+v", got.State, got.Causes)
			}
		})
	}
}

// TestCommand: names that are more than a word of a shell are in no command.
func TestCommand(t *testing.T) {
	if got := command("kubectl get %s -n %s", "pod", "web-0"); got != "kubectl get pod -n web-0" {
		t.Errorf("got %q", got)
	}
	for _, hostile := range []string{"", "x;reboot", "--context=prod", "$(id)", "a b", "a\nb", "a'b"} {
		if got := command("kubectl get %s", hostile); got != "" {
			t.Errorf("got %q", got)
		}
	}
}
