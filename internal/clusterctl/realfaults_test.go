//go:build unix

package clusterctl_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

// smallDisk makes the clusters' folder a disk of its own.
func (d *dock) smallDisk(mebibytes int) {
	d.t.Helper()
	if os.Getuid() != 0 {
		d.t.Skip("only root may mount a disk")
	}
	if err := os.MkdirAll(d.state, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", size(mebibytes), "tmpfs", d.state).CombinedOutput(); err != nil {
		d.t.Skipf("no disk can be mounted here: %s", out)
	}
	d.t.Cleanup(func() {
		d.end()
		if out, err := exec.Command("umount", d.state).CombinedOutput(); err != nil {
			d.t.Errorf("%v: %s", err, out)
		}
	})
}

func (d *dock) resize(mebibytes int) {
	d.t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,"+size(mebibytes), d.state).CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
}

func size(mebibytes int) string { return "size=" + strconv.Itoa(mebibytes) + "m" }

// TestRealFullDisk fills the disk of a durable cluster while it runs, and wants every
// write that it acknowledged once there is space again.
func TestRealFullDisk(t *testing.T) {
	d := newRealDock(t)
	d.smallDisk(20)
	_, err := d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{Durable: true}})
	if e := userError(t, err); e.What != "the disk has too little space for a cluster" || !strings.Contains(e.Hint, "SLIPWAY_STATE") {
		t.Errorf("start on a full disk: %+v", e)
	}
	d.resize(60)
	s := d.start(clusterctl.Options{Spec: clusterctl.Spec{Durable: true, Controllers: new(false)}})
	acknowledged := fill(t, configMaps(t, d.kube))
	gone(t, s.PID)
	for _, err := range []error{d.want("", clusterctl.Died).Problem(), second(d.Start(t.Context(), "", clusterctl.Options{}))} {
		e := userError(t, err)
		if !strings.HasPrefix(e.Where, d.state) || !strings.Contains(e.Hint, "free space") {
			t.Errorf("on a full disk: %+v", e)
		}
	}
	d.resize(200)
	d.start(clusterctl.Options{})
	list, err := configMaps(t, d.kube).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, c := range list.Items {
		there[c.GetName()] = true
	}
	for _, name := range acknowledged {
		if !there[name] {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
	t.Logf("%d writes were acknowledged", len(acknowledged))
}

func second[T any](_ T, err error) error { return err }

// configMaps are those of the namespace default behind a kubeconfig.
func configMaps(t *testing.T, kubeconfig string) dynamic.ResourceInterface {
	t.Helper()
	return wantAPI(t, kubeconfig).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
}

// fill writes until the cluster does not answer any more, and returns what it acknowledged.
func fill(t *testing.T, client dynamic.ResourceInterface) (names []string) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"ballast": strings.Repeat("x", 500_000)}}}
	for i := 0; ; i++ {
		name := "c" + strconv.Itoa(i)
		object.SetName(name)
		_, err := client.Create(t.Context(), object, metav1.CreateOptions{})
		if err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
			return names
		}
		if err == nil {
			names = append(names, name)
		}
	}
}

// TestRealDamagedData damages the data of a durable cluster. What is wrong is said without a stack trace.
func TestRealDamagedData(t *testing.T) {
	garbage := func([]byte) []byte { return bytes.Repeat([]byte("rust "), 5000) }
	zeroes := func(b []byte) []byte { return append(b[:8<<10:8<<10], make([]byte, len(b)-8<<10)...) }
	short := func(b []byte) []byte { return b[:4<<10] }
	d := newRealDock(t)
	d.start(clusterctl.Options{Spec: clusterctl.Spec{Durable: true, Controllers: new(false)}})
	d.stop()
	data, sound := filepath.Join(d.state, "clusters", "default", "etcd"), t.TempDir()
	duplicate := func(from, to string) {
		t.Helper()
		if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	duplicate(data, sound)
	for _, damage := range []struct {
		file string
		do   func([]byte) []byte
	}{{"snap/db", garbage}, {"snap/db", zeroes}, {"snap/db", short}, {"wal/*.wal", garbage}, {"wal/*.wal", short}} {
		file := damage.file
		if err := errors.Join(os.RemoveAll(data), os.Mkdir(data, 0o700)); err != nil {
			t.Fatal(err)
		}
		duplicate(sound, data)
		files, err := filepath.Glob(filepath.Join(data, "member", file))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", file, files, err)
		}
		for _, path := range files {
			content, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, damage.do(content), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err = d.Start(t.Context(), "", clusterctl.Options{})
		e := userError(t, err)
		if !strings.Contains(e.Hint, "`slipway cluster delete` removes them") || e.Next != "slipway cluster delete" ||
			!strings.Contains(e.Err.Error()+e.Hint, "the data cannot be used: "+d.state) || strings.Contains(e.Hint, "goroutine") {
			t.Errorf("%s: %+v", file, e)
		} else {
			t.Log(e)
		}
	}
	if _, err := d.Delete(t.Context(), ""); err != nil {
		t.Error(err)
	}
	d.start(clusterctl.Options{Spec: clusterctl.Spec{Controllers: new(false)}})
}

// TestRealPortTaken starts a durable cluster again whose port another program has by now: it gets another one,
// says so, and keeps that.
func TestRealPortTaken(t *testing.T) {
	d := newRealDock(t)
	o := clusterctl.Options{Spec: clusterctl.Spec{Durable: true, Controllers: new(false)}}
	before := d.start(o).Server
	d.stop()
	l, err := net.Listen("tcp", strings.TrimPrefix(before, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	after := d.start(clusterctl.Options{}).Server
	if after == before || !d.told("is taken: it gets another one") {
		t.Errorf("it is at %s, before %s; told was %v", after, before, d.log.all)
	}
	wantAPI(t, d.kube)
	d.stop()
	if again := d.start(clusterctl.Options{}).Server; again != after {
		t.Errorf("it is at %s, before %s", again, after)
	}
	d.stop()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	asked, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{Port: asked}})
	if e := userError(t, err); e.Where != "--port" {
		t.Errorf("a port that is asked for: %+v", e)
	}
	if again := d.start(clusterctl.Options{}).Server; again != after {
		t.Errorf("after a start that failed it is at %s, before %s", again, after)
	}
}

// TestRealAtOnce starts two clusters, each of them twice, all at the same time.
func TestRealAtOnce(t *testing.T) {
	d := newRealDock(t)
	var wg sync.WaitGroup
	created := make(chan string, 4)
	for _, name := range []string{"a", "b", "a", "b"} {
		wg.Go(func() {
			s, err := d.Start(t.Context(), name, clusterctl.Options{Timeout: testlimit.Hang, Spec: clusterctl.Spec{Controllers: new(false)}})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if !s.Already {
				created <- name
			}
		})
	}
	wg.Wait()
	close(created)
	counts := map[string]int{}
	for name := range created {
		counts[name]++
	}
	if len(counts) != 2 || counts["a"] != 1 || counts["b"] != 1 {
		t.Errorf("created: %v", counts)
	}
	for _, name := range []string{"a", "b"} {
		path, _, err := d.Kubeconfig(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		wantAPI(t, path)
	}
}

// TestRealPrivate: nobody else may use what the program makes.
func TestRealPrivate(t *testing.T) {
	d := newRealDock(t)
	d.start(clusterctl.Options{Spec: clusterctl.Spec{Durable: true}})
	err := filepath.WalkDir(d.state, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return nil // temporary
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s: %s", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	cl := state.Cluster{Dir: filepath.Join(d.state, "clusters", "default")}
	for path, want := range map[string]os.FileMode{cl.SocketPath(): 0o600, cl.Kubeconfig(): 0o600, cl.Dir: 0o700, cl.Logs(): 0o700, d.kube: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestRealLogs reads the logs of a cluster that runs, and of one that was killed.
func TestRealLogs(t *testing.T) {
	d := newRealDock(t)
	_, err := d.tell("controllers")
	if e := userError(t, err); e.Next != "slipway cluster start" {
		t.Errorf("no logs: %+v", e)
	}
	s := d.start(clusterctl.Options{})
	entries, err := d.tell("controllers")
	if err != nil || len(entries) == 0 || entries[0].Component != "controllers" {
		t.Errorf("controllers: %v, %v", entries, err)
	}
	followed := make(chan int)
	go func() {
		n := 0
		err := d.Logs(t.Context(), clusterctl.LogOptions{Tail: 1, Follow: true}, func(clusterctl.LogEntry) { n++ })
		if err != nil {
			t.Error(err)
		}
		followed <- n
	}()
	p, err := os.FindProcess(s.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if n := <-followed; n == 0 {
		t.Error("nothing was followed")
	}
	all, err := d.tell("")
	if err != nil || len(all) < len(entries) {
		t.Fatalf("after its death: %d entries, %v", len(all), err)
	}
	for i := range all[1:] {
		if all[i].Time > all[i+1].Time {
			t.Errorf("out of order: %v, %v", all[i], all[i+1])
		}
	}
	if _, err := d.tell("control"); userError(t, err).Code != 2 {
		t.Errorf("unknown component: %v", err)
	}
}

// tell returns what Logs tells.
func (d *dock) tell(component string) (all []clusterctl.LogEntry, err error) {
	err = d.Logs(d.t.Context(), clusterctl.LogOptions{Component: component, Tail: -1}, func(e clusterctl.LogEntry) { all = append(all, e) })
	return all, err
}
