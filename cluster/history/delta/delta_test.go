package delta_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/slipway-dev/slipway/cluster/history/conceal"
	"github.com/slipway-dev/slipway/cluster/history/delta"
)

func parse(t testing.TB, text string) *delta.Object {
	t.Helper()
	o, err := delta.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

var noJSON = func([]byte) ([]byte, error) { return nil, errors.New("no protobuf here") }

// text shows changes.
func text(changes []delta.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%s:%s→%s", c.Path, c.Before, c.After))
	}
	return strings.Join(all, "\n")
}

func between(t testing.TB, before, after *delta.Object, field string, toJSON func([]byte) ([]byte, error)) string {
	t.Helper()
	body, err := delta.Between(before, after, &conceal.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		return "nothing"
	}
	changes, more, err := delta.Changes(body, toJSON, field)
	if err != nil || more != 0 {
		t.Fatal(more, err)
	}
	return text(changes)
}

func TestJSON(t *testing.T) {
	const head = `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a","uid":"u1","ownerReferences":[{"uid":"o1"}],"generation":%d,"managedFields":[{"time":"%d"}],"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"%d"}},`
	object := func(n int, rest string) *delta.Object { return parse(t, fmt.Sprintf(head, n, n, n)+rest+"}") }
	o := object(1, `"spec":{}`)
	if o.Kind != "Widget" || o.APIVersion != "example.com/v1" || o.UID != "u1" || len(o.Owners) != 1 || o.Owners[0] != "o1" {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct{ before, after, field, want string }{
		{`"spec":{"a":1}`, `"spec":{"a":1}`, "", "nothing"},
		{`"spec":{"a":1,"b":2}`, `"spec":{"a":3,"c":null}`, "", ".spec.a:1→3\n.spec.b:2→"},
		{`"spec":{"a.b/c":1}`, `"spec":{"a.b/c":2}`, "", `.spec["a.b/c"]:1→2`},
		{`"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"Old"}]}`, `"status":{"conditions":[{"type":"New"},{"type":"Ready","status":"True"}]}`, "",
			".status.conditions[type=New]:→{\"type\":\"New\"}\n.status.conditions[type=Old]:{\"type\":\"Old\"}→\n.status.conditions[type=Ready].status:\"False\"→\"True\""},
		{`"spec":{"l":[1,2]}`, `"spec":{"l":[1,3]}`, "", ".spec.l[1]:2→3"},
		{`"spec":{"l":[1,2]}`, `"spec":{"l":[1]}`, "", ".spec.l:[1,2]→[1]"},
		{`"spec":{"a":1,"b":1}`, `"spec":{"a":2,"b":2}`, ".spec.b", ".spec.b:1→2"},
		{`"spec":{"ab":1}`, `"spec":{"ab":2}`, ".spec.a", ""},
		{`"spec":{}`, `"spec":{"a":{"b":1,"c":2}}`, ".spec.a.b", ".spec.a.b:→1"},
		{`"spec":{"n":12345678901234567890}`, `"spec":{"n":12345678901234567891}`, "", ".spec.n:12345678901234567890→12345678901234567891"},
		{`"spec":{"t":"a"}`, `"spec":{"t":"` + strings.Repeat("b", 3000) + `"}`, "", `.spec.t:"a"→{"cut":3002}`},
	} {
		if got := between(t, object(1, c.before), object(2, c.after), c.field, noJSON); got != c.want {
			t.Errorf("%s → %s: %s", c.before, c.after, got)
		}
	}
	plain := `{"kind":"W","metadata":{"name":"a"},"spec":{"a":1}}`
	if got := between(t, nil, parse(t, plain), "", noJSON); got != `:→`+plain {
		t.Error(got)
	}
	if got := between(t, nil, parse(t, plain), ".spec.a", noJSON); got != ".spec.a:→1" {
		t.Error(got)
	}
	idle := func(n int) *delta.Object {
		return parse(t, fmt.Sprintf(`{"metadata":{"generation":%d,"managedFields":[{"time":"%d"}]}}`, n, n))
	}
	if got := between(t, idle(1), idle(2), "", noJSON); got != "nothing" {
		t.Error(got)
	}
}

// protobufs returns what stores objects of built-in kinds, and what reads them.
func protobufs(t testing.TB) (store func(runtime.Object) *delta.Object, toJSON func([]byte) ([]byte, error)) {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	s := protobuf.NewSerializer(scheme, scheme)
	store = func(o runtime.Object) *delta.Object {
		gvks, _, err := scheme.ObjectKinds(o)
		if err != nil {
			t.Fatal(err)
		}
		o.GetObjectKind().SetGroupVersionKind(gvks[0])
		raw, err := runtime.Encode(s, o)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := delta.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	return store, func(b []byte) ([]byte, error) {
		o, _, err := s.Decode(b, nil, nil)
		if err != nil {
			return nil, err
		}
		return json.Marshal(o)
	}
}

func TestProtobuf(t *testing.T) {
	store, toJSON := protobufs(t)
	pod := func(phase corev1.PodPhase, n int64) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u1", Generation: n, OwnerReferences: []metav1.OwnerReference{{UID: "o1"}, {UID: "o2"}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: fmt.Sprint(n)}}}}
		p.Status.Phase = phase
		return p
	}
	o := store(pod("Running", 1))
	if o.Kind != "Pod" || o.APIVersion != "v1" || o.UID != "u1" || fmt.Sprint(o.Owners) != "[o1 o2]" || o.JSON() {
		t.Errorf("%+v", o)
	}
	if got := between(t, o, store(pod("Failed", 2)), "", toJSON); got != `.status.phase:"Running"→"Failed"` {
		t.Error(got)
	}
	if got := between(t, o, store(pod("Running", 2)), "", toJSON); got != "nothing" {
		t.Error(got)
	}
	if got := between(t, nil, o, ".metadata.name", toJSON); got != `.metadata.name:→"a"` {
		t.Error(got)
	}
	config := func(data map[string]string) *delta.Object { return store(&corev1.ConfigMap{Data: data}) }
	if got := between(t, config(map[string]string{"a": "1", "b": "2"}), config(map[string]string{"a": "1", "c": "3"}), "", toJSON); got != ".data.b:\"2\"→\n.data.c:→\"3\"" {
		t.Error(got)
	}
	lease := func(holder string, second int) *delta.Object {
		now := metav1.NewMicroTime(metav1.Unix(int64(second), 0).Time)
		l := store(&coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now}})
		l.DropRenewal()
		return l
	}
	if got := between(t, lease("a", 1), lease("a", 2), "", toJSON); got != "nothing" {
		t.Error(got)
	}
	if got := between(t, lease("a", 1), lease("b", 2), "", toJSON); got != `.spec.holderIdentity:"a"→"b"` {
		t.Error(got)
	}
}

// TestLimits: what is too large, too deep or too much is counted.
func TestLimits(t *testing.T) {
	random := make([]byte, 100<<10)
	for i := range random {
		random[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[i*i%7919%36]
	}
	deep := strings.Repeat(`{"a":`, 9000) + "%d" + strings.Repeat("}", 9000)
	many := func(n int) string {
		var fields []string
		for i := range 10_000 {
			fields = append(fields, fmt.Sprintf(`"f%d":%d`, i, n))
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	object := func(spec string) *delta.Object { return parse(t, `{"metadata":{},"spec":`+spec+`}`) }
	body, err := delta.Between(object(fmt.Sprintf(deep, 1)), object(fmt.Sprintf(deep, 2)), &conceal.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if changes, _, err := delta.Changes(body, noJSON, ""); err != nil || len(changes) != 1 || len(changes[0].After) > 100 {
		t.Error(len(changes), err)
	}
	body, err = delta.Between(object(many(1)), object(many(2)), &conceal.Values{})
	if err == nil {
		changes, more, err := delta.Changes(body, noJSON, "")
		if err != nil || len(changes) != 100 || more != 9900 {
			t.Error(len(changes), more, err)
		}
	} else if !errors.Is(err, delta.ErrSize) {
		t.Error(err)
	}
	repeated := bytes.Repeat([]byte{0x12, 0x02, 'a', 'b'}, 200_000)
	raw := protowire.AppendBytes([]byte("k8s\x00\x0a\x04\x0a\x02v1\x12"), append([]byte{0x0a, 0}, repeated...)) // a tag, then the length
	began := time.Now()
	if o, err := delta.Parse(raw); err != nil || o.JSON() || time.Since(began) > 2*time.Second {
		t.Error("fields that are repeated took", time.Since(began), err)
	}
	for _, text := range []string{"", "null", "[]", `{"metadata":1}`, "k8s\x00", "k8s\x00\xff", "k8s:enc:aescbc:v1:key:data"} {
		if _, err := delta.Parse([]byte(text)); !errors.Is(err, delta.ErrForm) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLongPaths: keys do not make changes longer than values may be.
func TestLongPaths(t *testing.T) {
	key := strings.Repeat("a", 400<<10)
	object := func(n int) *delta.Object {
		var fields []string
		for i := range 100 {
			fields = append(fields, fmt.Sprintf(`"f%d":%d`, i, n))
		}
		return parse(t, `{"metadata":{},"spec":{"`+key+`":{`+strings.Join(fields, ",")+`}}}`)
	}
	body, err := delta.Between(object(1), object(2), &conceal.Values{})
	if err != nil {
		t.Fatal(err)
	}
	changes, more, err := delta.Changes(body, noJSON, "")
	if err != nil || more != 0 || len(changes) != 1 || len(text(changes)) > 8<<10 || !strings.HasPrefix(changes[0].Path, ".spec.aaa") {
		t.Error(len(changes), len(text(changes)), more, err)
	}
}

// TestVersions: what is stored in two versions is not compared.
func TestVersions(t *testing.T) {
	store, _ := protobufs(t)
	pod := store(&corev1.Pod{})
	for _, before := range []*delta.Object{parse(t, `{"metadata":{}}`), store(&corev1.ConfigMap{})} {
		if _, err := delta.Between(before, pod, &conceal.Values{}); !errors.Is(err, delta.ErrVersions) {
			t.Error(err)
		}
	}
}

// TestLastApplied: the annotation that repeats the object is not kept.
func TestLastApplied(t *testing.T) {
	store, _ := protobufs(t)
	const name = "kubectl.kubernetes.io/last-applied-configuration"
	for n, o := range []*delta.Object{
		parse(t, `{"metadata":{"annotations":{"`+name+`":"repeated","b":"kept"}}}`),
		store(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{name: "repeated", "b": "kept"}}}),
	} {
		body, err := delta.Between(nil, o, &conceal.Values{})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := s2.Decode(nil, body)
		if err != nil || bytes.Contains(raw, []byte("repeated")) || !bytes.Contains(raw, []byte("kept")) {
			t.Errorf("%d: %q %v", n, raw, err)
		}
	}
}

func FuzzChanges(f *testing.F) {
	before, err := delta.Parse([]byte(`{"metadata":{"name":"a"},"spec":{"a":[{"name":"x"}]}}`))
	if err != nil {
		f.Fatal(err)
	}
	_, toJSON := protobufs(f)
	f.Add([]byte(`{"metadata":{"name":"a"},"spec":{"a":[{"name":"y"}],"b":1}}`), []byte{}, ".spec")
	f.Add([]byte("k8s\x00\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x02\x0a\x00"), []byte("\x01\x00\x00"), "")
	f.Fuzz(func(t *testing.T, value, body []byte, field string) {
		_, _, _ = delta.Changes(body, toJSON, field) // ends
		o, err := delta.Parse(value)
		if err != nil {
			return
		}
		for _, b := range []*delta.Object{nil, before} {
			made, err := delta.Between(b, o, &conceal.Values{})
			if err != nil && !errors.Is(err, delta.ErrVersions) {
				t.Fatal(err)
			}
			if made != nil && json.Valid(value) {
				if _, _, err := delta.Changes(made, toJSON, field); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkBetween(b *testing.B) {
	store, _ := protobufs(b)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	for i := range 5 {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: fmt.Sprint(i), Image: "image"})
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(fmt.Sprint(i)), Status: "True"})
	}
	before := store(p)
	p.Status.Phase = "Failed"
	text, err := json.Marshal(p)
	if err != nil {
		b.Fatal(err)
	}
	after := store(p)
	b.Run("protobuf", func(b *testing.B) {
		for b.Loop() {
			if _, err := delta.Between(before, after, &conceal.Values{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse JSON", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := delta.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
