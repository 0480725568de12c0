package recorder_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	memory "runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // its kinds can be decoded

	"github.com/slipway-dev/slipway/cluster/authorship"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/history"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/recorder"
)

// authors knows the writes of jane, whose values in the store say so.
type authors struct {
	*authorship.Calls
	store *etcd.Server
	gate  <-chan struct{} // holds the recorder up until it is closed; nil: nothing does
}

func (a authors) Written(key string, revision int64, _ time.Duration) (authorship.Written, bool) {
	if a.gate != nil {
		<-a.gate
	}
	value, err := a.store.At(context.Background(), []byte("/registry"+key), revision)
	if err != nil || strings.Contains(string(value), "nobody") || value == nil {
		return authorship.Written{}, true
	}
	return authorship.Written{By: &protocol.RecordAuthor{User: "jane"}}, true
}

// compacted is a store that does not have its history any more, several times.
type compacted struct {
	*etcd.Server
	times int
}

func (c *compacted) Follow(ctx context.Context, prefix string, from int64, begun func(ask func()), each func(etcd.Change)) error {
	if c.times--; c.times >= 0 {
		return errors.New("compacted")
	}
	return c.Server.Follow(ctx, prefix, from, begun, each)
}

type world struct {
	*testing.T
	dir   string
	store *etcd.Server
	*recorder.Recorder
	gate    chan struct{}
	failing int // times that the store is not followed
}

func start(t *testing.T) *world {
	t.Helper()
	w := begin(t)
	w.record()
	t.Cleanup(func() { w.Close() })
	return w
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir()}
	var err error
	w.store, err = etcd.Start(t.Context(), etcd.Config{Dir: filepath.Join(w.dir, "etcd"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.store.Stop)
	return w
}

func (w *world) record() {
	w.Recorder = recorder.Start(recorder.Options{
		Dir: filepath.Join(w.dir, "record"), Store: &compacted{w.store, w.failing}, Prefix: "/registry", Resume: true,
		Calls: authors{authorship.New(nil, w.store.Revision), w.store, w.gate}, Problem: func(err error) {
			if w.gate == nil {
				w.Error(err)
			}
		},
	})
}

func (w *world) put(key, value string) int64 {
	w.Helper()
	revision, err := w.store.Apply(w.Context(), nil, []etcd.Pair{{Key: []byte("/registry/" + key), Value: []byte(value)}})
	if err != nil {
		w.Fatal(err)
	}
	return revision
}

func (w *world) remove(key string) {
	w.Helper()
	if _, err := w.store.Apply(w.Context(), [][]byte{[]byte("/registry/" + key)}, nil); err != nil {
		w.Fatal(err)
	}
}

// object puts one of a built-in kind.
func (w *world) object(key string, o runtime.Object, version schema.GroupVersion) {
	w.Helper()
	gvks, _, err := legacyscheme.Scheme.ObjectKinds(o)
	if err != nil {
		w.Fatal(err)
	}
	o.GetObjectKind().SetGroupVersionKind(version.WithKind(gvks[0].Kind))
	value, err := runtime.Encode(protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme), o)
	if err != nil {
		w.Fatal(err)
	}
	w.put(key, string(value))
}

// entries are all but markers, in order and in short, once there are so many.
func (w *world) entries(n int) (all []string) {
	w.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		h, err := w.History()
		if err != nil {
			continue
		}
		all = nil
		for _, e := range h.Read(protocol.RecordQuery{After: new(uint64)}).Entries {
			if e.Kind == protocol.RecordMarker {
				continue
			}
			text := fmt.Sprint(e.Kind, " ", e.Type)
			if e.Object != nil {
				text += fmt.Sprint(" ", e.Object.Resource, "/", e.Object.Name)
			}
			if e.By != nil {
				text += fmt.Sprint(" by ", e.By.User, map[bool]string{true: "?"}[e.By.Unknown])
			}
			for _, c := range e.Changes {
				text += fmt.Sprintf(" %s:%s→%s", c.Path, c.Before, c.After)
			}
			if e.Idle {
				text += " idle"
			}
			for _, key := range e.Keys {
				text += " " + key
			}
			if e.Kind == protocol.RecordGap {
				text = fmt.Sprint("gap of ", e.Missed)
			}
			all = append(all, strings.TrimSpace(text+" "+e.Reason+" "+e.Message))
		}
		if len(all) >= n {
			return all
		}
	}
	w.Fatal("there are only", len(all), "entries:", strings.Join(all, "\n"))
	return nil
}

func (w *world) want(want ...string) {
	w.Helper()
	got := w.entries(len(want))
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || strings.TrimSpace(want[i]) != strings.TrimSpace(got[i]) {
			w.Fatalf("got\n%s\nin place of\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

const widget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"u","managedFields":[{"time":"%d"}]},"spec":{"size":%d}}`

func TestChanges(t *testing.T) {
	w := start(t)
	w.put("masterleases/a", "{}")
	w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, 1))
	w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 2, 2))
	w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 3, 2))
	w.put("example.com/widgets/default/a", "nobody \x00")
	w.remove("example.com/widgets/default/a")
	w.object("pods/default/p", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, corev1.SchemeGroupVersion)
	w.object("events/default/e", &corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Widget", APIVersion: "example.com/v1", Namespace: "default", Name: "a"},
		Type: "Normal", Reason: "Grew", Message: "to 2"}, corev1.SchemeGroupVersion)
	w.remove("events/default/e")
	w.want(
		`write created widgets/a by jane :→{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"u"},"spec":{"size":1}}`,
		`write updated widgets/a by jane .spec.size:1→2`,
		`write updated widgets/a by jane idle`,
		`write updated widgets/a`,
		`write deleted widgets/a`,
		`write created pods/p by jane :→{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":null},"status":{}}`,
		`event Normal widgets/a by jane Grew to 2`,
	)
}

// TestSecrets: no value of a Secret is in any file, wherever it was copied to.
func TestSecrets(t *testing.T) {
	w := start(t)
	secret := func(data map[string][]byte) {
		w.object("secrets/default/s", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: data}, corev1.SchemeGroupVersion)
	}
	const value, other = "marked\"<value>\n", "another marked value"
	secret(map[string][]byte{"password": []byte(value), "same": []byte("same same")})
	secret(map[string][]byte{"password": []byte(other), "same": []byte("same same"), "short": []byte("x")})
	w.entries(2) // what is written before is not hidden
	quoted, err := json.Marshal(value + other)
	if err != nil {
		t.Fatal(err)
	}
	w.put("example.com/widgets/default/a", `{"kind":"Widget","metadata":{"name":"a"},"spec":{"text":`+string(quoted)+`}}`)
	w.object("configmaps/default/c", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"k": "is " + value}}, corev1.SchemeGroupVersion)
	w.entries(4)
	w.Note(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "o", Object: &protocol.RecordObject{}, Message: "got " + other + "."}})
	w.want(
		`write created secrets/s by jane password same`,
		`write updated secrets/s by jane password short`,
		`write created widgets/a by jane :→{"kind":"Widget","metadata":{"name":"a"},"spec":{"text":"**********"}}`,
		`write created configmaps/c by jane :→{"apiVersion":"v1","data":{"k":"is *****"},"kind":"ConfigMap","metadata":{"name":"c"}}`,
		`line  /  got *****.`,
	)
	w.Close()
	w.without("marked")
	w.without("bWFya2Vk")
}

// TestQuotes: a text that quotes a Secret waits for the Secret's change, and all of its texts are hidden.
func TestQuotes(t *testing.T) {
	w := begin(t)
	w.gate = make(chan struct{})
	w.record()
	defer w.Close()
	for range 100 { // these are in front of the Secret
		w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, 1))
	}
	const value = "marked-value"
	w.object("secrets/default/s", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"k": []byte(value)}}, corev1.SchemeGroupVersion)
	decisions := []protocol.RecordDecision{{Plugin: "p", Effect: "denied", Text: "no " + value}}
	w.Note(history.Item{Entry: protocol.RecordEntry{
		Kind: protocol.RecordRefusal, Object: &protocol.RecordObject{Resource: "pods", Name: value}, Message: value, Path: value, Reason: value, Decisions: decisions,
		By: &protocol.RecordAuthor{Agent: value, Manager: value, Trace: value}, Controller: value, Reconcile: value, Level: value,
	}})
	close(w.gate)
	w.entries(102)
	if decisions[0].Text != "no "+value {
		t.Error("the caller's decisions were changed:", decisions)
	}
	w.Close()
	w.without("marked")
}

// without looks for a text in all files of the record.
func (w *world) without(text string) {
	w.Helper()
	err := filepath.WalkDir(filepath.Join(w.dir, "record"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			w.Error(path, "has", text)
		}
		return err
	})
	if err != nil {
		w.Error(err)
	}
}

// TestLargeSecrets: values are hidden behind those that take much room.
func TestLargeSecrets(t *testing.T) {
	w := start(t)
	for _, name := range []string{"a", "b"} {
		release := strings.Repeat(name+"0123456789", 60_000)
		w.object("secrets/default/"+name, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"release": []byte(release)}}, corev1.SchemeGroupVersion)
	}
	w.object("secrets/default/s", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"k": []byte("marked-value")}}, corev1.SchemeGroupVersion)
	w.Note(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "o", Message: "is marked-value a0123456789a0123456789a0123456789a0123456789a0123456789a0123456789"}})
	if all := w.entries(4); !strings.HasSuffix(all[3], "is ***** *****") {
		t.Error(all[3])
	}
}

// TestManySecrets: where not all values have room, texts are recorded as sizes.
func TestManySecrets(t *testing.T) {
	w := begin(t)
	for i := range 40 {
		data := map[string][]byte{}
		for k := range 1000 {
			data[fmt.Sprint(k)] = fmt.Appendf(nil, "%08x%08x", uint32(i*1000+k)*2654435761, k)
		}
		w.object(fmt.Sprint("secrets/default/s", i), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s", i)}, Data: data}, corev1.SchemeGroupVersion)
	}
	w.record()
	defer w.Close()
	w.Note(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "o", Message: "anything"}})
	w.want("line   8 bytes")
}

// TestEncryptedSecrets: where Secrets cannot be read, no text is written.
func TestEncryptedSecrets(t *testing.T) {
	w := begin(t)
	w.put("secrets/default/s", "k8s:enc:aescbc:v1:key:0123456789")
	w.record()
	defer w.Close()
	w.Note(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "o", Message: "anything"}})
	w.want("line   8 bytes")
}

// TestBehind: a recorder that had to leave changes out says how many, and goes on with right changes and all Secrets.
func TestBehind(t *testing.T) {
	w := begin(t)
	w.gate = make(chan struct{})
	w.record()
	defer w.Close()
	widgets := func(size int) { w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, size)) }
	widgets(1)
	before := w.store.Revision()
	for i := range 20 { // more than wait
		var pairs []etcd.Pair
		for k := range 1000 {
			pairs = append(pairs, etcd.Pair{Key: fmt.Appendf(nil, "/registry/example.com/things/default/%d", k), Value: fmt.Appendf(nil, `{"kind":"Thing","metadata":{},"n":%d}`, i)})
		}
		if _, err := w.store.Apply(t.Context(), nil, pairs); err != nil {
			t.Fatal(err)
		}
	}
	widgets(2)
	w.object("secrets/default/s", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"k": []byte("marked-value")}}, corev1.SchemeGroupVersion)
	lost := w.store.Revision() - before
	close(w.gate)
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(50 * time.Millisecond) {
		widgets(3)
		widgets(4)
		h, err := w.History()
		if err != nil || time.Now().After(deadline) {
			t.Fatal("it does not go on", err)
		}
		page := h.Read(protocol.RecordQuery{Object: &protocol.RecordObject{Group: "example.com", Resource: "widgets", Namespace: "default", Name: "a"}})
		newest := page.Entries[0]
		if len(newest.Changes) == 0 || newest.Kind != protocol.RecordWrite || newest.Type == history.Created {
			continue
		}
		for _, e := range page.Entries {
			if e.Kind == protocol.RecordGap {
				if int64(e.Missed) < lost-1 {
					t.Error("a gap of", e.Missed, "in place of", lost)
				}
				w.Note(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "o", Message: "is marked-value"}})
				w.Close()
				w.without("marked-value")
				return
			}
			if text := fmt.Sprintf("%s", e.Changes); e.Type == history.Updated && strings.Contains(text, "1") && !strings.Contains(text, "unread") {
				t.Error("over the gap there is a change:", text)
			}
		}
	}
}

// TestCompacted: history that the store does not have any more is a gap, and what is written then is recorded.
func TestCompacted(t *testing.T) {
	w := begin(t)
	w.record()
	w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, 1))
	w.entries(1)
	w.Close()
	for n := range 5 {
		w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, n))
	}
	w.failing = 1
	w.gate = make(chan struct{}) // a problem is expected
	close(w.gate)
	w.record()
	defer w.Close()
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(50 * time.Millisecond) {
		w.put("example.com/widgets/default/b", fmt.Sprintf(widget, 1, 1))
		all := w.entries(1)
		if last := all[len(all)-1]; strings.Contains(last, "widgets/b") {
			if !strings.HasPrefix(all[1], "gap of ") {
				t.Error(strings.Join(all, "\n"))
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(strings.Join(all, "\n"))
		}
	}
}

// TestUnreadable: an object is never compared with one from before a value that could not be read.
func TestUnreadable(t *testing.T) {
	w := start(t)
	w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, 1))
	w.put("example.com/widgets/default/a", "unreadable")
	w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, 3))
	if all := w.entries(3); strings.Contains(all[2], "1→3") {
		t.Error(all[2])
	}
}

// TestNotes: notes that wait take a bounded memory, none if there is no record.
func TestNotes(t *testing.T) {
	w := begin(t)
	if err := os.WriteFile(filepath.Join(w.dir, "record"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.gate = make(chan struct{}) // a problem is expected
	w.record()
	defer w.Close()
	large := history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "o"}}
	for _, err := w.History(); errors.Is(err, recorder.ErrOpening); _, err = w.History() {
		<-time.After(time.Millisecond)
	}
	var before, after memory.MemStats
	memory.ReadMemStats(&before)
	for range 8000 {
		large.Entry.Message = strings.Repeat("m", 100<<10)
		w.Note(large)
	}
	memory.GC()
	memory.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 100<<20 {
		t.Error("notes take", grown>>20, "MiB")
	}
}

// TestResume: what was written while nothing recorded it is there afterwards, without its author.
func TestResume(t *testing.T) {
	w := start(t)
	w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, 1))
	w.entries(1)
	w.Close()
	w.put("example.com/widgets/default/a", strings.Replace(fmt.Sprintf(widget, 1, 2), "Widget", "Widget nobody", 1))
	w.record()
	done := w.Resetting()
	done(w.put("example.com/widgets/default/a", strings.Replace(fmt.Sprintf(widget, 1, 3), "Widget", "Widget nobody", 1)))
	w.put("example.com/widgets/default/a", fmt.Sprintf(widget, 1, 4))
	all := w.entries(4)
	for i, want := range []string{
		`write created widgets/a by jane`, `write updated widgets/a by ?`, `write updated widgets/a .spec.size:2→3 reset`, `write updated widgets/a by jane`,
	} {
		if !strings.HasPrefix(all[i], want) {
			t.Error(all[i], "in place of", want)
		}
	}
}
