package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// through returns a client that comes in by a door.
func through(t *testing.T, d *Door) client.Client {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", d.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	cl, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// TestDoor: each kind of failure meets one request of a real client, and does to it what it says.
func TestDoor(t *testing.T) {
	c := audited(t)
	account := c.Account(t, rolesFile(t))
	admin := c.Client(t)
	create := Fault{Verb: "create", Resource: "configmaps", Namespace: account.Namespace}
	stored := func(t *testing.T, name string) bool {
		t.Helper()
		err := admin.Get(t.Context(), client.ObjectKey{Namespace: account.Namespace, Name: name}, &corev1.ConfigMap{})
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return err == nil
	}
	for _, tc := range []struct {
		Fault
		status  int  // of the answer; 0: there is none
		stored  bool // by the request
		goesOn  bool // requests after it are let in
		skipped int
	}{
		{Fault{Kind: Lost}, 0, true, true, 0},
		{Fault{Kind: KilledAfter}, 0, true, false, 0},
		{Fault{Kind: KilledBefore}, 0, false, false, 0},
		{Fault{Kind: Refused, Status: http.StatusInternalServerError}, 500, false, true, 2},
		{Fault{Kind: Refused, Status: http.StatusGatewayTimeout, Lasts: true}, 504, false, true, 0},
		{Fault{Kind: Refused, Status: http.StatusTooManyRequests, RetryAfter: time.Second}, 429, false, true, 0},
	} {
		name := fmt.Sprint(tc.Kind, "-", tc.Status)
		t.Run(name, func(t *testing.T) {
			door := account.OpenDoor(t)
			operator := through(t, door)
			f := create
			f.Kind, f.Status, f.RetryAfter, f.Lasts, f.Skip, f.Name = tc.Kind, tc.Status, tc.RetryAfter, tc.Lasts, tc.skipped, name+"*"
			failure := door.Fail(t, f)
			write := func(suffix string) error {
				ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond) // client-go obeys a Retry-After
				defer cancel()
				return operator.Create(ctx, configMap(account.Namespace, name+suffix))
			}
			for i := range tc.skipped {
				if err := write(fmt.Sprint("-", i)); err != nil {
					t.Fatal(err)
				}
			}
			err := write("")
			failure.Wait(t)
			if err == nil {
				t.Fatal("the request has not failed")
			}
			if status, ok := errors.AsType[*apierrors.StatusError](err); ok && int(status.Status().Code) != tc.status {
				t.Errorf("%v; want the status %d", err, tc.status)
			}
			if stored(t, name) != tc.stored {
				t.Errorf("stored: %v; want %v", !tc.stored, tc.stored)
			}
			if tc.Lasts {
				if err := write("-again"); err == nil {
					t.Error("the failure has not lasted")
				}
				failure.Release(t)
			}
			if err := write("-later"); (err == nil) != tc.goesOn {
				t.Errorf("a later request: %v", err)
			}
		})
	}
}

// TestDoorReleases: a watch lags behind a write, and a write waits, until the test lets them go on.
func TestDoorReleases(t *testing.T) {
	c := audited(t)
	account := c.Account(t, rolesFile(t))
	door := account.OpenDoor(t)
	config, err := clientcmd.BuildConfigFromFlags("", door.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	operator, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := operator.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(account.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	seen := make(chan string, 100)
	go func() {
		for e := range watch.ResultChan() {
			if o, ok := e.Object.(*corev1.ConfigMap); ok {
				seen <- o.Name
			}
		}
	}()
	stale := door.Fail(t, Fault{Kind: Stale, Verb: "create", Resource: "configmaps", Namespace: account.Namespace, Name: "late"})
	late := configMap(account.Namespace, "late")
	if err := operator.Create(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	door.WaitForRest(t)
	for len(seen) > 0 {
		if name := <-seen; name == "late" {
			t.Fatal("the watch has delivered what it was to hold")
		}
	}
	stale.Release(t)
	eventually(t, "the watch goes on", func(context.Context) (bool, error) {
		select {
		case name := <-seen:
			return name == "late", nil
		default:
			return false, nil
		}
	})
	overtaken := door.Fail(t, Fault{Kind: Overtaken, Verb: "update", Resource: "configmaps", Namespace: account.Namespace, Name: "late"})
	refused := make(chan error, 1)
	mine := late.DeepCopy()
	go func() { refused <- operator.Update(t.Context(), mine) }()
	overtaken.Wait(t)
	late.Data = map[string]string{"by": "another"}
	if err := c.Client(t).Update(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	overtaken.Release(t)
	if err := <-refused; !apierrors.IsConflict(err) {
		t.Errorf("the update that was overtaken: %v; want a conflict", err)
	}
}

// helper is the variable by which the test binary is a program that works behind a door.
const helper = "CLUSTERTEST_WORKS"

// TestRun: a program comes in by a door under its account, and can be killed.
func TestRun(t *testing.T) {
	if namespace := os.Getenv(helper); namespace != "" {
		config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
		if err != nil {
			t.Fatal(err)
		}
		cl, err := client.New(config, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := cl.Create(t.Context(), configMap(namespace, "made")); err != nil {
			t.Fatal(err)
		}
		<-t.Context().Done()
		return
	}
	c := audited(t)
	account := c.Account(t, rolesFile(t))
	door := account.OpenDoor(t)
	t.Setenv(helper, account.Namespace)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := door.Run(t, program, "-test.run=^TestRun$")
	made := &corev1.ConfigMap{}
	eventually(t, "the program writes", func(ctx context.Context) (bool, error) {
		err := c.Client(t).Get(ctx, client.ObjectKey{Namespace: account.Namespace, Name: "made"}, made)
		return err == nil, client.IgnoreNotFound(err)
	})
	p.Kill(t)
}
