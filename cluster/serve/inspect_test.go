package serve

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

const inspectOperator = `{"user":"system:serviceaccount:default:operator","groups":["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"],"namespace":"default","inspect":{"park":%t}}`

// inspect opens an inspected door.
func (d *doorTest) inspect(t testing.TB, park bool) *opened {
	t.Helper()
	o := d.dial(t)
	if reply := o.request("openDoor", fmt.Sprintf(inspectOperator, park), &o.DoorOpened); reply.Error != "" {
		t.Fatal(reply.Error)
	}
	o.config = configOf(t, o.Kubeconfig)
	return o
}

// about asks for something of the open door.
func (o *opened) about(method, more string) {
	o.t.Helper()
	if reply := o.request(method, fmt.Sprintf(`{"name":%q%s}`, o.Name, more), nil); reply.Error != "" {
		o.t.Fatal(method, reply.Error)
	}
}

func named(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// inspections: a real client meets faults, and what is stored is reported with them.
func inspections(t *testing.T, d *doorTest) {
	o := d.inspect(t, false)
	if reply := o.request("followChanges", `{}`, nil); reply.Error != "" {
		t.Fatal(reply.Error)
	}
	maps := clientOf(t, o.config).CoreV1().ConfigMaps("default")
	lost := `{"name":"lost","match":{"verb":"create","resource":"configmaps","namespace":"default","name":"lost"},"break":true}`
	conflict := `{"name":"conflict","match":{"verb":"update","resource":"configmaps","namespace":"default","name":"lost"},"withhold":true,"answer":{"status":409,"reason":"Conflict"}}`
	o.about("armDoor", `,"faults":[`+lost+`,`+conflict+`]`)
	if _, err := maps.Create(t.Context(), named("lost"), metav1.CreateOptions{}); err == nil {
		t.Error("the answer was not lost")
	}
	var struck, changed line // in either order: the store reports by itself
	for struck.Event == "" || changed.Event == "" {
		select {
		case l := <-o.lines:
			switch {
			case l.Event == "struck":
				struck = l
			case l.Event == "changed" && l.Key == "/configmaps/default/lost":
				changed = l
			}
		case <-time.After(testlimit.Hang):
			t.Fatalf("not reported: %+v, %+v", struck, changed)
		}
	}
	if struck.Fault != "lost" || struck.Status != 201 {
		t.Errorf("%+v", struck)
	}
	var object corev1.ConfigMap
	if err := json.Unmarshal(changed.Object, &object); err != nil || object.Kind != "ConfigMap" || object.Name != "lost" || !changed.Created || fmt.Sprint(changed.Revision) == "0" {
		t.Errorf("%+v %v", changed, err)
	}
	stored, err := maps.Get(t.Context(), "lost", metav1.GetOptions{})
	if err != nil || stored.ResourceVersion != fmt.Sprint(changed.Revision) {
		t.Errorf("stored is %s, reported was %d: %v", stored.ResourceVersion, changed.Revision, err)
	}
	if _, err := maps.Update(t.Context(), stored, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("no conflict: %v", err)
	}
	if _, err := maps.Update(t.Context(), stored, metav1.UpdateOptions{}); err != nil {
		t.Errorf("a conflict again: %v", err)
	}
	overtaken(t, d, o, stored)
	lasts(t, o)
	if reply := o.request("armDoor", fmt.Sprintf(`{"name":%q,"faults":[{"name":"x","match":{"verb":"watch","resource":"pods"}}]}`, o.Name), nil); reply.Error == "" {
		t.Error("a fault of watches is taken")
	}
	plain := d.open(t)
	if reply := plain.request("activateDoor", fmt.Sprintf(`{"name":%q}`, plain.Name), nil); reply.Error == "" {
		t.Error("a door that is not inspected is taken")
	}
}

// overtaken: another client writes while a request is paused, and the server refuses that one.
func overtaken(t *testing.T, d *doorTest, o *opened, stored *corev1.ConfigMap) {
	t.Helper()
	o.about("armDoor", `,"faults":[{"name":"overtaken","match":{"verb":"update","resource":"configmaps","namespace":"default","name":"lost"},"pause":true}]`)
	client, admin := clientOf(t, o.config), clientOf(t, d.admin)
	refused := make(chan error, 1)
	go func() {
		mine := stored.DeepCopy()
		mine.Data = map[string]string{"by": "operator"}
		_, err := client.CoreV1().ConfigMaps("default").Update(t.Context(), mine, metav1.UpdateOptions{})
		refused <- err
	}()
	serial := o.next("struck").Serial
	if _, err := admin.CoreV1().ConfigMaps("default").Patch(t.Context(), "lost", types.MergePatchType, []byte(`{"data":{"by":"another"}}`), metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
	o.about("resumeDoor", fmt.Sprintf(`,"serial":%d`, serial))
	if err := <-refused; !apierrors.IsConflict(err) {
		t.Errorf("no conflict: %v", err)
	}
}

// lasts: a fault that lasts meets each request until it is disarmed.
func lasts(t *testing.T, o *opened) {
	t.Helper()
	o.about("armDoor", `,"faults":[{"name":"lasts","match":{"verb":"create","resource":"configmaps","namespace":"default","name":"lasting"},"lasts":true,"withhold":true,"answer":{"status":500,"reason":"InternalError"}}]`)
	maps := clientOf(t, o.config).CoreV1().ConfigMaps("default")
	for range 3 {
		if _, err := maps.Create(t.Context(), named("lasting"), metav1.CreateOptions{}); !apierrors.IsInternalError(err) {
			t.Errorf("it does not fail: %v", err)
		}
	}
	o.about("disarmDoor", "")
	if _, err := maps.Create(t.Context(), named("lasting"), metav1.CreateOptions{}); err != nil {
		t.Errorf("it fails for good: %v", err)
	}
	if err := maps.Delete(t.Context(), "lasting", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// lags: a client's watch lags and catches up, and one that is parked sees nothing of what came after the baseline.
func lags(t *testing.T, d *doorTest) {
	o, parked := d.inspect(t, false), d.inspect(t, true)
	watching := func(o *opened) watch.Interface {
		initial := true
		w, err := clientOf(t, o.config).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		return w
	}
	seen := func(w watch.Interface, name string) {
		t.Helper()
		for e := range w.ResultChan() {
			if m, is := e.Object.(*corev1.ConfigMap); is && m.Name == name {
				return
			}
		}
		t.Fatal("the watch has ended before", name)
	}
	first, second := watching(o), watching(parked)
	for o.next("delivered").Type != "SYNCED" {
	}
	o.about("holdWatches", `,"resource":"configmaps"`)
	admin := clientOf(t, d.admin).CoreV1().ConfigMaps("default")
	if _, err := admin.Create(t.Context(), named("late"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o.about("releaseWatches", `,"resource":"configmaps"`)
	seen(first, "late")
	parked.about("activateDoor", "")
	seen(second, "late")
	o.about("cutWatches", `,"resource":"configmaps"`)
	for range first.ResultChan() { // it ends
	}
}
