package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/ingress"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode/services"
)

// outlet is what answers for Services and Ingresses on this machine.
type outlet struct {
	services  *services.Proxy
	ingresses *ingress.Front
}

// outlet returns where Services and Ingresses answer on this machine, and what listens there. A cluster that never has
// real nodes, as those of tests, does not listen: nothing of it could answer.
func (c *Cluster) outlet() (hostaddress.Range, func(informers.SharedInformerFactory) (controllers.Loop, error)) {
	if c.spec.Real == nil {
		return hostaddress.Range{}, nil
	}
	addresses := hostaddress.Of(c.dir)
	return addresses, func(f informers.SharedInformerFactory) (controllers.Loop, error) {
		log := c.logger(protocol.Controllers)
		proxy, err := services.New(f, services.Options{Dialer: c.reach, Host: true, Range: addresses, Server: c.serverAddress(), Real: c.reach.Has, Log: log})
		if err != nil {
			return nil, err
		}
		front, err := ingress.New(f, ingress.Options{Backends: proxy, Range: addresses, Log: log})
		if err != nil {
			return nil, err
		}
		c.out.Store(&outlet{proxy, front})
		return func(ctx context.Context) {
			var both sync.WaitGroup
			both.Go(func() {
				c.reportNodePorts(ctx, proxy)
				proxy.Run(ctx, func() {})
			})
			both.Go(func() { front.Run(ctx) })
			both.Wait()
		}, nil
	}
}

// reasonNodePort is that of the Event on a Service whose NodePort is not served.
const reasonNodePort = "NodePortNotServed"

// reportNodePorts records Events about Services whose NodePorts are not served until ctx ends. Without them only the
// log would name the port that is missing.
func (c *Cluster) reportNodePorts(ctx context.Context, proxy *services.Proxy) {
	client, err := kubernetes.NewForConfig(c.loopback())
	if err != nil {
		return // the log has them
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	events := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "slipway-services"})
	proxy.FollowUnserved(func(s *corev1.Service, why string) { events.Event(s, corev1.EventTypeWarning, reasonNodePort, why) })
}

// Address is where a Service of the type LoadBalancer, or an Ingress, answers on this machine.
type Address struct {
	Kind, Namespace, Name string
	Protocol              string // of a Service's port
	Port                  int32  // the object's own
	At                    string // host:port, or an Ingress's URL
	Problem               string // why it does not
}

// Addresses lists where Services and Ingresses answer on this machine, or why they do not.
func (c *Cluster) Addresses() []Address {
	out := c.out.Load()
	if out == nil {
		return nil
	}
	var all []Address
	for _, a := range out.services.Addresses() {
		all = append(all, Address{"Service", a.Namespace, a.Service, string(a.Protocol), a.Port, a.At, problem(a.Problem)})
	}
	for _, a := range out.ingresses.Addresses() {
		all = append(all, Address{"Ingress", a.Namespace, a.Ingress, "", a.Port, a.URL, problem(a.Problem)})
	}
	slices.SortStableFunc(all, func(a, b Address) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), -cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}
