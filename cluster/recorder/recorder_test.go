package recorder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
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
}

func (a authors) Written(key string, revision int64, _ time.Duration) (authorship.Written, bool) {
	value, err := a.store.At(context.Background(), []byte("/registry"+key), revision)
	if err != nil || strings.Contains(string(value), "nobody") || value == nil {
		return authorship.Written{}, true
	}
	return authorship.Written{By: &protocol.RecordAuthor{User: "jane"}}, true
}

type world struct {
	*testing.T
	dir   string
	store *etcd.Server
	*recorder.Recorder
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir()}
	var err error
	w.store, err = etcd.Start(t.Context(), etcd.Config{Dir: filepath.Join(w.dir, "etcd"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.store.Stop)
	w.record()
	t.Cleanup(func() { w.Close() })
	return w
}

func (w *world) record() {
	w.Recorder = recorder.Start(recorder.Options{
		Dir: filepath.Join(w.dir, "record"), Store: w.store, Prefix: "/registry", Resume: true,
		Calls: authors{authorship.New(nil), w.store}, Problem: func(err error) { w.Error(err) },
	})
}

func (w *world) put(key, value string) int64 {
	w.Helper()
	revision, err := w.store.Apply(w.Context(), nil, []etcd.Pair{{[]byte("/registry/" + key), []byte(value)}})
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
			text := fmt.Sprint(e.Kind, " ", e.Type, " ", e.Object.Resource, "/", e.Object.Name)
			if e.By != nil {
				text += fmt.Sprint(" by ", e.By.User, map[bool]string{true: "?"}[e.By.Unknown])
			}
			for _, c := range e.Changes {
				text += fmt.Sprintf(" %s:%s→%s", c.Path, c.Before, c.After)
			}
			if e.Idle {
				text += " idle"
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
	hidden := strings.Repeat("*", len(value))
	w.want(
		`write created secrets/s by jane  password same`,
		`write updated secrets/s by jane  password short`,
		`write created widgets/a by jane :→{"kind":"Widget","metadata":{"name":"a"},"spec":{"text":"`+strings.Repeat("*", len(quoted)-2)+`"}}`,
		`write created configmaps/c by jane :→{"apiVersion":"v1","data":{"k":"is `+hidden+`"},"kind":"ConfigMap","metadata":{"name":"c"}}`,
		`line  /  got `+strings.Repeat("*", len(other))+`.`,
	)
	w.Close()
	err = filepath.WalkDir(filepath.Join(w.dir, "record"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "marked") || strings.Contains(string(text), "bWFya2Vk") {
			t.Error(path, "has a value")
		}
		return err
	})
	if err != nil {
		t.Error(err)
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
