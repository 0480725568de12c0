package controllers

import (
	"context"
	"errors"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

// loadBalancerRange is where Services of the type LoadBalancer get their addresses. The range
// is reserved for documentation (RFC 5737), so that it is never anybody's: a program that
// connects to such an address reaches nobody, where a private range might lead it to a stranger.
var loadBalancerRange = netip.MustParsePrefix("203.0.113.0/24")

var errNoAddress = errors.New("no address is left in " + loadBalancerRange.String())

// loadBalancer gives Services of the type LoadBalancer an address, and takes it back when they
// are of another type. It stands where a cluster has its cloud's service controller. A Service
// with a class is left to whoever implements that class.
type loadBalancer struct {
	client   kubernetes.Interface
	events   record.EventRecorder
	services corelisters.ServiceLister

	// given holds the addresses given to Services that the lister may not show yet, with the keys
	// of those. The one goroutine that serves uses it.
	given map[netip.Addr]string
}

func newLoadBalancer(ctx context.Context, d *Deps) (Loop, error) {
	const name = "service-lb-controller"
	client, err := d.client(name)
	if err != nil {
		return nil, err
	}
	services := d.Informers.Core().V1().Services()
	b := &loadBalancer{client: client, events: recorder(ctx, client, name), services: services.Lister(), given: map[netip.Addr]string{}}
	q := newQueue(name, b.serve)
	// Also those of other types: the API server takes the address off a Service whose type changes, which then shows
	// nothing of it.
	if err := q.watch(services.Informer(), func(any) bool { return true }); err != nil {
		return nil, err
	}
	if err := q.watchGone(services.Informer()); err != nil {
		return nil, err
	}
	return q.loop(1), nil
}

func balanced(s *corev1.Service) bool {
	return s.DeletionTimestamp == nil && s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.LoadBalancerClass == nil
}

// serve gives the Service with that key its address, or takes it.
func (b *loadBalancer) serve(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	service, err := b.services.Services(namespace).Get(name)
	if err != nil {
		b.release(key)
		return ignoreNotFound(err)
	}
	ingress := service.Status.LoadBalancer.Ingress
	if balanced(service) {
		if len(ingress) > 0 {
			return nil
		}
		return b.give(ctx, key, service)
	}
	b.release(key)
	if ours(ingress) {
		return b.write(ctx, service, nil)
	}
	return nil
}

// ours says whether it was this controller that gave the address.
func ours(ingress []corev1.LoadBalancerIngress) bool {
	if len(ingress) != 1 {
		return false
	}
	address, err := netip.ParseAddr(ingress[0].IP)
	return err == nil && loadBalancerRange.Contains(address)
}

func (b *loadBalancer) give(ctx context.Context, key string, service *corev1.Service) error {
	address, err := b.choose(key, service.Spec.LoadBalancerIP)
	if err != nil {
		b.events.Event(service, corev1.EventTypeWarning, "SyncLoadBalancerFailed", err.Error())
		return err
	}
	if err := b.write(ctx, service, []corev1.LoadBalancerIngress{{IP: address.String()}}); err != nil {
		return err
	}
	b.events.Event(service, corev1.EventTypeNormal, "EnsuredLoadBalancer", "Ensured load balancer")
	return nil
}

func (b *loadBalancer) write(ctx context.Context, service *corev1.Service, ingress []corev1.LoadBalancerIngress) error {
	changed := service.DeepCopy()
	changed.Status.LoadBalancer.Ingress = ingress
	_, err := b.client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

// choose picks the address that the Service asks for, else the lowest free one.
func (b *loadBalancer) choose(key, wanted string) (netip.Addr, error) {
	taken, err := b.taken()
	if err != nil {
		return netip.Addr{}, err
	}
	free := func(a netip.Addr) bool {
		return (b.given[a] == "" || b.given[a] == key) && (taken[a] == "" || taken[a] == key)
	}
	if a, err := netip.ParseAddr(wanted); err == nil && loadBalancerRange.Contains(a) && free(a) {
		b.given[a] = key
		return a, nil
	}
	for a := loadBalancerRange.Addr().Next(); loadBalancerRange.Contains(a.Next()); a = a.Next() {
		if free(a) {
			b.given[a] = key
			return a, nil
		}
	}
	return netip.Addr{}, errNoAddress
}

// taken are the addresses that Services show, each with the key of its Service.
func (b *loadBalancer) taken() (map[netip.Addr]string, error) {
	services, err := b.services.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	taken := map[netip.Addr]string{}
	for _, s := range services {
		for _, ingress := range s.Status.LoadBalancer.Ingress {
			if a, err := netip.ParseAddr(ingress.IP); err == nil {
				taken[a] = cache.MetaObjectToName(s).String()
			}
		}
	}
	return taken, nil
}

// release forgets what was given to a Service.
func (b *loadBalancer) release(key string) {
	for a, owner := range b.given {
		if owner == key {
			delete(b.given, a)
		}
	}
}
