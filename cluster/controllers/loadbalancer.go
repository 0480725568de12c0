package controllers

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
)

// loadBalancerRange is where Services of the type LoadBalancer get their addresses. The range
// is reserved for documentation (RFC 5737), so that it is never anybody's: a program that
// connects to such an address reaches nobody, where a private range might lead it to a stranger.
var loadBalancerRange = netip.MustParsePrefix("203.0.113.0/24")

var errNoAddress = errors.New("all addresses for load balancers are in use")

// loadBalancer gives Services of the type LoadBalancer an address, and takes it back when they
// are of another type. It stands where a cluster has its cloud's service controller. A Service
// with a class is left to the controller of that class. Where the cluster may have real nodes the
// addresses are this machine's, and answer.
type loadBalancer struct {
	host hostaddress.Range

	client   kubernetes.Interface
	events   record.EventRecorder
	notices  *notices
	services corelisters.ServiceLister

	// given holds what was given to Services that the lister may not show yet, by their keys. The one goroutine that
	// serves uses it.
	given map[string]corev1.LoadBalancerIngress
}

func newLoadBalancer(ctx context.Context, d *Deps) (Loop, error) {
	const name = "service-lb-controller"
	client, err := d.client(name)
	if err != nil {
		return nil, err
	}
	services := d.Informers.Core().V1().Services()
	b := &loadBalancer{
		host: d.Host, client: client, events: recorder(ctx, client, name), notices: newNotices(client, name), services: services.Lister(), given: map[string]corev1.LoadBalancerIngress{},
	}
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
		delete(b.given, key)
		b.notices.forget(key)
		return ignoreNotFound(err)
	}
	ingress := service.Status.LoadBalancer.Ingress
	if balanced(service) {
		if len(ingress) > 0 && (!b.ours(ingress) || b.fits(service, ingress[0])) {
			return nil
		}
		return b.give(ctx, key, service)
	}
	delete(b.given, key)
	if b.ours(ingress) {
		return b.write(ctx, service, nil)
	}
	return nil
}

// ours says whether it was this controller that gave the address, now or when the cluster had other nodes. An address
// of this machine counts with mode and ports alone, which this controller always writes: operators and their tests
// write 127.0.0.1.
func (b *loadBalancer) ours(ingress []corev1.LoadBalancerIngress) bool {
	if len(ingress) != 1 {
		return false
	}
	address, err := netip.ParseAddr(ingress[0].IP)
	if err != nil || loadBalancerRange.Contains(address) {
		return err == nil
	}
	proxied := ptr.Deref(ingress[0].IPMode, corev1.LoadBalancerIPModeVIP) == corev1.LoadBalancerIPModeProxy
	return proxied && len(ingress[0].Ports) > 0 && hostaddress.Local(address)
}

// fits says whether an address that was given is still right for the Service, whose ports may have changed.
func (b *loadBalancer) fits(service *corev1.Service, given corev1.LoadBalancerIngress) bool {
	address, err := netip.ParseAddr(given.IP)
	if err != nil || b.host.Empty() {
		return err == nil && loadBalancerRange.Contains(address)
	}
	if !slices.Contains(b.host.Services(), address) || len(given.Ports) != len(service.Spec.Ports) {
		return false
	}
	for i, p := range service.Spec.Ports {
		if given.Ports[i].Protocol != p.Protocol || !hostaddress.StandsFor(p.Port, given.Ports[i].Port) {
			return false
		}
	}
	return true
}

func (b *loadBalancer) give(ctx context.Context, key string, service *corev1.Service) error {
	ingress, err := b.choose(ctx, key, service)
	if err != nil {
		b.notices.keep(ctx, key, serviceReference(service), notice{corev1.EventTypeWarning, "SyncLoadBalancerFailed", err.Error()})
		return err
	}
	b.notices.forget(key)
	if err := b.write(ctx, service, []corev1.LoadBalancerIngress{ingress}); err != nil {
		return err
	}
	b.events.Event(service, corev1.EventTypeNormal, "EnsuredLoadBalancer", ensured(service, ingress))
	return nil
}

func serviceReference(s *corev1.Service) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: s.Namespace, Name: s.Name, UID: s.UID, ResourceVersion: s.ResourceVersion}
}

// ensured says where ports answer that are not the Service's own.
func ensured(service *corev1.Service, given corev1.LoadBalancerIngress) string {
	text := "Ensured load balancer"
	for i, at := range given.Ports {
		if wanted := service.Spec.Ports[i].Port; at.Port != wanted {
			text += fmt.Sprintf("; port %d answers at %s:%d, since the cluster cannot listen at %[1]d on this machine", wanted, given.IP, at.Port)
		}
	}
	return text
}

func (b *loadBalancer) write(ctx context.Context, service *corev1.Service, ingress []corev1.LoadBalancerIngress) error {
	changed := service.DeepCopy()
	changed.Status.LoadBalancer.Ingress = ingress
	_, err := b.client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

// choose picks the address that the Service asks for, else the lowest free one.
func (b *loadBalancer) choose(ctx context.Context, key string, service *corev1.Service) (corev1.LoadBalancerIngress, error) {
	others, err := b.others(key)
	if err != nil {
		return corev1.LoadBalancerIngress{}, err
	}
	if b.host.Empty() {
		address, err := lowest(addresses(loadBalancerRange), service.Spec.LoadBalancerIP, others)
		if err != nil {
			return corev1.LoadBalancerIngress{}, err
		}
		b.given[key] = corev1.LoadBalancerIngress{IP: address.String()}
		return b.given[key], nil
	}
	given, err := b.onHost(ctx, service, others)
	if err != nil {
		return corev1.LoadBalancerIngress{}, err
	}
	b.given[key] = given
	return given, nil
}

// onHost picks an address of this machine and ports that are free there. An address that the Service has already, and
// is no other's, stays.
func (b *loadBalancer) onHost(ctx context.Context, service *corev1.Service, others []corev1.LoadBalancerIngress) (corev1.LoadBalancerIngress, error) {
	wish := service.Spec.LoadBalancerIP
	if now := service.Status.LoadBalancer.Ingress; wish == "" && len(now) == 1 {
		wish = now[0].IP
	}
	rest := others
	if b.host.Shared() {
		rest = nil
	}
	address, err := lowest(b.host.Services(), wish, rest)
	if err != nil {
		return corev1.LoadBalancerIngress{}, err
	}
	wanted := make([]hostaddress.Port, len(service.Spec.Ports))
	for i, p := range service.Spec.Ports {
		wanted[i] = hostaddress.Port{Protocol: p.Protocol, Number: p.Port}
	}
	// Where it listens already for this Service the port is not free, and is right nevertheless.
	ports, err := hostaddress.Ports(ctx, address, wanted, heldBy(others, address), heldBy(service.Status.LoadBalancer.Ingress, address))
	if err != nil {
		return corev1.LoadBalancerIngress{}, err
	}
	given := corev1.LoadBalancerIngress{IP: address.String(), IPMode: ptr.To(corev1.LoadBalancerIPModeProxy)}
	for i, port := range ports {
		given.Ports = append(given.Ports, corev1.PortStatus{Port: port, Protocol: wanted[i].Protocol})
	}
	return given, nil
}

// heldBy says of ports of an address whether load balancers have them.
func heldBy(all []corev1.LoadBalancerIngress, address netip.Addr) func(hostaddress.Port) bool {
	held := map[hostaddress.Port]bool{}
	for _, ingress := range all {
		if ingress.IP == address.String() {
			for _, p := range ingress.Ports {
				held[hostaddress.Port{Protocol: p.Protocol, Number: p.Port}] = true
			}
		}
	}
	return func(p hostaddress.Port) bool { return held[p] }
}

// addresses are those of a range, without its first and last.
func addresses(of netip.Prefix) []netip.Addr {
	var all []netip.Addr
	for a := of.Masked().Addr().Next(); of.Contains(a.Next()); a = a.Next() {
		all = append(all, a)
	}
	return all
}

// lowest picks the address that is wished for, or the first one that no other has.
func lowest(all []netip.Addr, wish string, others []corev1.LoadBalancerIngress) (netip.Addr, error) {
	taken := map[string]bool{}
	for _, o := range others {
		taken[o.IP] = true
	}
	if a, err := netip.ParseAddr(wish); err == nil && slices.Contains(all, a) && !taken[a.String()] {
		return a, nil
	}
	for _, a := range all {
		if !taken[a.String()] {
			return a, nil
		}
	}
	return netip.Addr{}, errNoAddress
}

// others are the addresses of all other Services: those that they show, and those given that they do not show yet.
func (b *loadBalancer) others(key string) ([]corev1.LoadBalancerIngress, error) {
	services, err := b.services.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	var all []corev1.LoadBalancerIngress
	for _, s := range services {
		if cache.MetaObjectToName(s).String() != key {
			all = append(all, s.Status.LoadBalancer.Ingress...)
		}
	}
	for other, ingress := range b.given {
		if other != key {
			all = append(all, ingress)
		}
	}
	return all, nil
}
