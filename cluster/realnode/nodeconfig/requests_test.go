package nodeconfig_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// TestRequests: a connection begins with a configuration, and requests follow, one after the other.
func TestRequests(t *testing.T) {
	ours, theirs := net.Pipe()
	node := nodeconfig.NewNode(ours)
	var group sync.WaitGroup
	group.Go(func() {
		config, requests, err := nodeconfig.Accept(theirs)
		if err != nil || config.Name != "real-1" {
			t.Errorf("%+v, %v", config, err)
			return
		}
		err = requests.Serve(func(p nodeconfig.Prune) ([]nodeconfig.PrunedImage, error) {
			if p.DryRun {
				return nil, errors.New("not today")
			}
			return []nodeconfig.PrunedImage{{Tag: "op:v1", ID: "sha256:1", Bytes: int64(p.Age)}}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	var askers sync.WaitGroup
	for range 10 {
		askers.Go(func() {
			images, err := node.Prune(nodeconfig.Prune{Age: time.Second})
			if want := []nodeconfig.PrunedImage{{Tag: "op:v1", ID: "sha256:1", Bytes: int64(time.Second)}}; err != nil || !reflect.DeepEqual(images, want) {
				t.Errorf("%+v, %v", images, err)
			}
		})
	}
	if err := node.Configure(nodeconfig.Config{Name: "real-1"}); err != nil { // which they wait for
		t.Fatal(err)
	}
	askers.Wait()
	if _, err := node.Prune(nodeconfig.Prune{DryRun: true}); err == nil || err.Error() != "not today" {
		t.Errorf("a node that cannot: %v", err)
	}
	if err := node.Close(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
}

// TestHostileNode: an answer without an end takes no more memory than others, and the connection is used no more.
func TestHostileNode(t *testing.T) {
	ours, theirs := net.Pipe()
	node := nodeconfig.NewNode(ours)
	var group sync.WaitGroup
	group.Go(func() {
		lines := bufio.NewReader(theirs)
		for range 2 { // the configuration and the request
			if _, err := lines.ReadString('\n'); err != nil {
				t.Error(err)
			}
		}
		for {
			if _, err := theirs.Write(bytes.Repeat([]byte("["), 1<<16)); err != nil {
				return
			}
		}
	})
	if err := node.Configure(nodeconfig.Config{}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Prune(nodeconfig.Prune{}); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("%v", err)
	}
	group.Wait()
	if _, err := node.Prune(nodeconfig.Prune{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("once more: %v", err)
	}
}
