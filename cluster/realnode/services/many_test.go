package services

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/network"
)

// TestManyBalancers: load balancers come and go by the hundred. Those that say they have the same address get one
// listener, which is the first one's, and nothing is left of them.
func TestManyBalancers(t *testing.T) {
	f := newFixture(t)
	addresses := f.options.Range.Services()
	http, _ := echo(t)
	const many = 500
	var services []*corev1.Service
	before := runtime.NumGoroutine()
	for n := range many {
		name, at, ready := fmt.Sprintf("s%03d", n), addresses[n%min(len(addresses), 250)].String(), true
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "many", Name: name}, Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: f.port}},
		}}
		s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: at, Ports: []corev1.PortStatus{{Port: f.port}}}}
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: "many", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
			Ports:      []discoveryv1.EndpointPort{{Name: &s.Spec.Ports[0].Name, Port: &http}},
			Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{network.Host.String()}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}},
		}
		if err := f.objects.Add(s); err != nil {
			t.Fatal(err)
		}
		if err := f.slices.Add(slice); err != nil {
			t.Fatal(err)
		}
		services = append(services, s)
	}
	if !f.follow(t.Context(), f.wanted()) {
		t.Error("not all listeners are there")
	}
	all := f.Addresses()
	for i, a := range all {
		if first := i < min(len(addresses), 250); first != (a.Problem == nil) {
			t.Fatalf("%d: %+v", i, a)
		}
	}
	if len(all) != many || f.open.Len() != min(len(addresses), 250) {
		t.Errorf("%d addresses, %d listeners", len(all), f.open.Len())
	}
	for _, s := range services {
		if err := f.objects.Delete(s); err != nil {
			t.Fatal(err)
		}
	}
	f.follow(t.Context(), f.wanted())
	f.group.Wait()
	if n := f.open.Len(); n != 0 || len(f.Addresses()) != 0 {
		t.Errorf("%d listeners are left", n)
	}
	// A goroutine counts until it has returned, which is after what the group waits for.
	deadline := time.Now().Add(testlimit.Hang)
	for runtime.NumGoroutine() > before+5 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}
