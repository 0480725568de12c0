package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/history"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/journal"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// TestRecord: each write to a real cluster has one entry, with its author.
func TestRecord(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	dir := t.TempDir()
	h, err := Start(ctx, Options{Dir: dir, Logger: quiet, Progress: func(string, protocol.State) {}, Note: func(_, text string) { t.Log(text) },
		Main: Spec{Name: "test", RecordBytes: history.MinSize}})
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			h.Stop()
		}
	}()
	config, err := clientcmd.BuildConfigFromFlags("", h.Main().Kubeconfig())
	must(t, err)
	config.QPS = -1
	r := recorded{h, kubernetes.NewForConfigOrDie(config)}
	t.Run("authors", r.authors)
	t.Run("many at once", r.crowd)
	t.Run("cancelled", r.cancelled)
	t.Run("refusals", r.refusals)
	t.Run("door", r.door)
	t.Run("reset", r.reset)
	stopped = true
	h.Stop()
	again, err := history.Open(filepath.Join(dir, "record"), history.MinSize, journal.Decoder())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, e := range again.Read(protocol.RecordQuery{Kinds: []string{"write"}, Limit: 200}).Entries {
		if e.By != nil && e.By.Unknown && e.Object.Name != "cancelled" {
			t.Errorf("the author of %+v is not known", e.Object)
		}
	}
}

type recorded struct {
	*Host
	client kubernetes.Interface
}

// until returns the entries about something, oldest first, once there are so many.
func (r recorded) until(t *testing.T, q protocol.RecordQuery, n int) (entries []protocol.RecordEntry) {
	t.Helper()
	q.Kinds = append(q.Kinds, "write", "refusal", "event", "request", "delivery")
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		record, err := r.Main().History()
		if err != nil {
			continue
		}
		if entries = record.Read(q).Entries; len(entries) >= n {
			slices.Reverse(entries)
			return entries
		}
	}
	t.Fatalf("there are only %d entries about %+v: %+v", len(entries), q, entries)
	return nil
}

func configMap(name string) *protocol.RecordObject {
	return &protocol.RecordObject{Resource: "configmaps", Namespace: "default", Name: name}
}

func (r recorded) authors(t *testing.T) {
	maps := r.client.CoreV1().ConfigMaps("default")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"example.com/wait"}}, Data: map[string]string{"k": "1"}}
	_, err := maps.Create(t.Context(), object, metav1.CreateOptions{FieldManager: "creator"})
	must(t, err)
	_, err = maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dry"}}, metav1.CreateOptions{DryRun: []string{"All"}})
	must(t, err)
	patch := func(kind types.PatchType, text string) {
		_, err := maps.Patch(t.Context(), "a", kind, []byte(text), metav1.PatchOptions{FieldManager: "patcher"})
		must(t, err)
	}
	patch(types.MergePatchType, `{"data":{"k":"2"}}`)
	patch(types.MergePatchType, `{"data":{"k":"2"}}`) // changes nothing
	patch(types.ApplyPatchType, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"l":"<3>"}}`)
	must(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	patch(types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	var got []string
	for _, e := range r.until(t, protocol.RecordQuery{Object: configMap("a")}, 5) {
		text := fmt.Sprint(e.Type, " ", e.By.User, " ", e.By.Verb, " ", e.By.Manager)
		for _, c := range e.Changes {
			if c.Path != "" && !strings.HasPrefix(c.Path, ".metadata.deletion") {
				text += fmt.Sprintf(" %s:%s→%s", c.Path, c.Before, c.After)
			}
		}
		got = append(got, text)
	}
	want := []string{
		`created kubernetes-admin create creator`, `updated kubernetes-admin patch patcher .data.k:"1"→"2"`, `updated kubernetes-admin apply patcher .data.l:→"\u003c3\u003e"`,
		`updated kubernetes-admin delete ` + filepath.Base(os.Args[0]), `deleted kubernetes-admin patch patcher`,
	}
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], got[0][len("created "):strings.Index(got[0], " create ")], "kubernetes-admin")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nin place of\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// crowd has clients write at once, also to the same object.
func (r recorded) crowd(t *testing.T) {
	const clients, writes = 8, 40
	maps := r.client.CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shared"}}, metav1.CreateOptions{})
	must(t, err)
	began := time.Now()
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for i := range writes {
				text := fmt.Sprintf(`{"data":{"k%d":"%d"}}`, c, i)
				_, err := maps.Patch(t.Context(), "shared", types.MergePatchType, []byte(text), metav1.PatchOptions{FieldManager: fmt.Sprint("client", c)})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	t.Log(clients*writes, "writes took", time.Since(began))
	must(t, maps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	seen := map[int64]bool{}
	for before := uint64(0); len(seen) < clients*writes+2; {
		page := r.until(t, protocol.RecordQuery{Object: configMap("shared"), Before: before}, 1)
		for _, e := range page {
			if e.By == nil || e.By.Unknown || seen[e.Revision] {
				t.Fatalf("%+v by %+v", e, e.By)
			}
			seen[e.Revision] = true
			for _, c := range e.Changes {
				if e.Type == history.Updated && !strings.HasPrefix(c.Path, ".data") || strings.HasPrefix(c.Path, ".data.k") && c.Path[len(".data.k"):] != strings.TrimPrefix(e.By.Manager, "client") {
					t.Errorf("%s has changed %s", e.By.Manager, c.Path)
				}
			}
		}
		before = page[0].Seq
	}
}

// cancelled has clients go away in the middle of their writes: none of these is said to be by no client.
func (r recorded) cancelled(t *testing.T) {
	maps := r.client.CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cancelled"}}, metav1.CreateOptions{})
	must(t, err)
	const writes = 300
	for i := range writes {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%60)*100*time.Microsecond)
		_, _ = maps.Patch(ctx, "cancelled", types.MergePatchType, fmt.Appendf(nil, `{"data":{"k":"%d"}}`, i), metav1.PatchOptions{FieldManager: "leaver"})
		cancel()
	}
	_, err = maps.Patch(t.Context(), "cancelled", types.MergePatchType, []byte(`{"data":{"k":"last"}}`), metav1.PatchOptions{FieldManager: "last"})
	must(t, err)
	known, unknown := 0, 0
	for before := uint64(0); ; {
		page := r.until(t, protocol.RecordQuery{Object: configMap("cancelled"), Before: before}, 1)
		for _, e := range page {
			switch {
			case e.By == nil:
				t.Errorf("revision %d is by no client", e.Revision)
			case e.By.Unknown:
				unknown++
			default:
				known++
			}
		}
		if page[0].Type == history.Created {
			break
		}
		before = page[0].Seq
	}
	t.Log("of", writes, "writes", known, "were by a known client and", unknown, "by one that is not known")
}

func (r recorded) refusals(t *testing.T) {
	_, err := r.client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "Bad_name"}}, metav1.CreateOptions{})
	if err == nil {
		t.Fatal("a bad name was taken")
	}
	e := r.until(t, protocol.RecordQuery{Object: configMap("Bad_name")}, 1)[0]
	if e.Kind != protocol.RecordRefusal || e.Status != 422 || !strings.Contains(e.Message, "Invalid value") || e.By.User == "" {
		t.Errorf("%+v", e)
	}
}

// door looks at what a process gets through a front door, in either form of content.
func (r recorded) door(t *testing.T) {
	const name = "operator"
	door, err := r.OpenDoor("", DoorOptions{Identity: user.DefaultInfo{Name: name, Groups: []string{user.AllAuthenticated}}})
	must(t, err)
	defer door.Close()
	config, err := clientcmd.BuildConfigFromFlags("", door.Kubeconfig())
	must(t, err)
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err == nil {
		t.Error("it has no rights yet")
	}
	subject := []rbacv1.Subject{{Kind: "User", Name: name, APIGroup: rbacv1.GroupName}}
	_, err = r.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subject, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin", APIGroup: rbacv1.GroupName},
	}, metav1.CreateOptions{})
	must(t, err)
	for form, of := range map[string]*protocol.RecordObject{"application/json": configMap("json"), "application/vnd.kubernetes.protobuf": configMap("protobuf")} {
		config.ContentType = form
		client := kubernetes.NewForConfigOrDie(config)
		var watched watch.Interface
		for watched == nil {
			watched, _ = client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{}) // once the server knows the binding
		}
		_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: of.Name}}, metav1.CreateOptions{})
		must(t, err)
		for e := range watched.ResultChan() {
			if e.Object.(*corev1.ConfigMap).Name == of.Name {
				break
			}
		}
		watched.Stop()
		var got []string
		for _, e := range r.until(t, protocol.RecordQuery{Object: of}, 3) {
			if e.By.User != name || e.Revision == 0 {
				t.Errorf("%+v", e)
			}
			got = append(got, e.Kind+" "+e.Type+" "+e.By.Door)
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != "delivery ADDED door-1, request  door-1, write created " {
			t.Errorf("%s: %q", form, got)
		}
	}
	refused := r.until(t, protocol.RecordQuery{User: name, Refused: true}, 1)[0]
	if refused.Kind != protocol.RecordRequest || refused.Status != 403 || refused.Object.Resource != "pods" || refused.By.Verb != "list" {
		t.Errorf("%+v", refused)
	}
}

// reset looks at the writes of a reset, and at markers.
func (r recorded) reset(t *testing.T) {
	_, err := r.client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}, metav1.CreateOptions{})
	must(t, err)
	_, err = r.Main().Reset(t.Context())
	must(t, err)
	all := r.until(t, protocol.RecordQuery{Object: configMap("gone")}, 2)
	if last := all[len(all)-1]; last.Type != history.Deleted || last.By != nil || last.Reason != "reset" {
		text, _ := json.Marshal(last)
		t.Errorf("%s", text)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
