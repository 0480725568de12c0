package cri

import (
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type identified struct{ Prepared }

func (identified) User() *runtimeapi.LinuxContainerUser {
	return &runtimeapi.LinuxContainerUser{Uid: 7}
}

// TestUserIsTold: who the first process begins as is what the pod's status has, where that is known.
func TestUserIsTold(t *testing.T) {
	c := &container{prepared: identified{}, log: &logFile{}, config: &runtimeapi.ContainerConfig{}}
	if u := c.status().GetUser().GetLinux(); u.GetUid() != 7 {
		t.Errorf("the status has %v", u)
	}
	c.prepared = struct{ Prepared }{}
	if u := c.status().GetUser(); u != nil {
		t.Errorf("the status has %v of a container without a user of its own", u)
	}
}
