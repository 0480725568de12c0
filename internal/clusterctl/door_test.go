//go:build unix

package clusterctl_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/clusterctl"
)

// TestDoorOfOlderProgram: a program that knows no doors is to be started anew.
func TestDoorOfOlderProgram(t *testing.T) {
	d := newDock(t, sound)
	open := func() error {
		_, err := d.OpenDoor(t.Context(), "", clusterctl.ServiceAccount("default", "operator"), func(clusterctl.DoorRequest) {})
		return err
	}
	if e := userError(t, open()); e.Next != "slipway cluster start" {
		t.Errorf("no cluster: %+v", e)
	}
	d.start(clusterctl.Options{})
	if e := userError(t, open()); e.Next != "slipway cluster stop && slipway cluster start" || !strings.Contains(e.Hint, "older slipway") {
		t.Errorf("an older program: %+v", e)
	}
}

// TestRealDoor: a door of the real program, from its opening to the cluster's end.
func TestRealDoor(t *testing.T) {
	d := newRealDock(t)
	d.start(clusterctl.Options{})
	reports := make(chan clusterctl.DoorRequest, 100)
	open := func() (*clusterctl.Door, dynamic.ResourceInterface) {
		t.Helper()
		door, err := d.OpenDoor(t.Context(), "", clusterctl.ServiceAccount("shop", "operator"), func(r clusterctl.DoorRequest) { reports <- r })
		if err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.BuildConfigFromFlags("", door.Kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return door, client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace("shop")
	}
	door, deployments := open()
	if _, err := deployments.Get(t.Context(), "till", metav1.GetOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:shop:operator") {
		t.Errorf("without a role: %v", err)
	}
	if err := door.Close(); err != nil {
		t.Error(err)
	}
	<-door.Ended()
	select {
	case r := <-reports:
		if latency := r.Latency; latency <= 0 || latency > time.Minute {
			t.Errorf("it took %s", latency)
		}
		r.Latency = 0
		if want := (clusterctl.DoorRequest{
			User: "system:serviceaccount:shop:operator", Verb: "get", Group: "apps", Version: "v1", Resource: "deployments", Namespace: "shop", Name: "till", Status: 403,
		}); r != want {
			t.Errorf("reported is %+v, want %+v", r, want)
		}
	default:
		t.Error("it was not reported before the door was closed")
	}
	if _, err := os.Stat(door.Kubeconfig); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the kubeconfig: %v", err)
	}
	if err := door.Close(); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if _, err := d.OpenDoor(t.Context(), "", clusterctl.Identity{User: "u", Groups: []string{"system:masters"}}, nil); !strings.Contains(userError(t, err).Err.Error(), "system:masters") {
		t.Errorf("with all rights: %v", err)
	}
	last, _ := open()
	d.stop()
	<-last.Ended()
	if err := last.Close(); err != nil {
		t.Errorf("after the cluster's end: %v", err)
	}
}
