package cri

import (
	"syscall"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestStopSignal: images name signals in each way that builders of images take, and what the pod names comes first.
func TestStopSignal(t *testing.T) {
	for text, want := range map[string]syscall.Signal{
		"": syscall.SIGTERM, "SIGQUIT": syscall.SIGQUIT, "QUIT": syscall.SIGQUIT, "sigquit": syscall.SIGQUIT, "3": syscall.SIGQUIT,
		"SIGIOT": syscall.SIGABRT, "SIGRTMIN": 34, "RTMIN+3": 37, "SIGRTMIN+3": 37, "SIGRTMAX-1": 63, "SIGRTMAX": 64, "64": 64,
		"0": syscall.SIGTERM, "-1": syscall.SIGTERM, "65": syscall.SIGTERM, "SIGRTMIN+31": syscall.SIGTERM, "SIGRTMAX-31": syscall.SIGTERM,
		"SIGRTMIN3": syscall.SIGTERM, "SIGRTMIN+": syscall.SIGTERM, "SIGRTMAX+1": syscall.SIGTERM, "SIGNONE": syscall.SIGTERM,
	} {
		c := &container{config: &runtimeapi.ContainerConfig{}}
		c.image.Config.StopSignal = text
		if got := c.stopSignal(); got != want {
			t.Errorf("the image's %q is signal %d, want %d", text, int(got), int(want))
		}
	}
	for s, name := range runtimeapi.Signal_name {
		c := &container{config: &runtimeapi.ContainerConfig{StopSignal: runtimeapi.Signal(s)}}
		c.image.Config.StopSignal = "SIGTERM"
		if got := c.stopSignal(); got == syscall.SIGTERM && s != int32(runtimeapi.Signal_SIGNAL_SIGTERM) && s != 0 {
			t.Errorf("the pod's %s is SIGTERM", name)
		}
	}
	c := &container{config: &runtimeapi.ContainerConfig{StopSignal: runtimeapi.Signal_SIGNAL_SIGRTMAXMINUS14}}
	if got := c.stopSignal(); got != lastRealTime-14 {
		t.Errorf("the pod's signal is %d", int(got))
	}
}
