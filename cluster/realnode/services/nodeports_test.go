package services

import (
	"net"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestNodePortTaken: a NodePort that another program has is reported once for its Service, and no other listener is.
func TestNodePortTaken(t *testing.T) {
	f := newFixture(t)
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := f.objects.List()[0].(*corev1.Service).DeepCopy()
	s.Spec.Type, s.Spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, int32(taken.Addr().(*net.TCPAddr).Port)
	if err := f.objects.Update(s); err != nil {
		t.Fatal(err)
	}
	var reported []string
	f.FollowUnserved(func(s *corev1.Service, why string) { reported = append(reported, s.Name+": "+why) })
	wanted := map[key]target{}
	for _, port := range s.Spec.Ports {
		f.want(wanted, s, port, targetOf(s, port))
	}
	for range 2 {
		f.follow(t.Context(), wanted)
	}
	if want := "/TCP is not served on this machine until it can be: another program"; len(reported) != 1 || !strings.Contains(reported[0], want) ||
		!strings.HasPrefix(reported[0], "web: NodePort ") {
		t.Errorf("reported: %q", reported)
	}
	_ = taken.Close()
	if reported = slices.Delete(reported, 0, len(reported)); !f.follow(t.Context(), wanted) || len(reported) > 0 {
		t.Errorf("the free port: %q", reported)
	}
}
