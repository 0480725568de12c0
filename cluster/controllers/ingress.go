package controllers

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
)

const (
	// IngressController is the controller of ingress classes whose Ingresses get an address here.
	IngressController = "slipway.dev/ingress"
	// DefaultIngressClass is the class of Ingresses that name none.
	DefaultIngressClass = "slipway"

	// classAnnotation is how Ingresses named their class before there was a field.
	classAnnotation = "kubernetes.io/ingress.class"

	// ingressAddress is shared by all Ingresses, as that of an ingress controller is. Like those of load balancers it
	// is reserved for documentation (RFC 5737): a program that connects to it reaches no other machine. Where the
	// cluster may have real nodes there is one of this machine in its place.
	ingressAddress = "198.51.100.1"
)

// ingressPorts are those of HTTP and of HTTP with TLS.
var ingressPorts = []hostaddress.Port{{Protocol: corev1.ProtocolTCP, Number: 80}, {Protocol: corev1.ProtocolTCP, Number: 443}}

// ingress gives the Ingresses of its classes an address, and takes it back when they change to another class. It stands
// where a cluster has an ingress controller. Package [github.com/slipway-dev/slipway/cluster/ingress] routes.
type ingress struct {
	host      hostaddress.Range
	ports     []int32 // where ingressPorts answer; nil until the first Ingress
	client    kubernetes.Interface
	ingresses networkinglisters.IngressLister
	classes   networkinglisters.IngressClassLister
	secrets   corelisters.SecretLister
	queue     *queue
	notices   *notices
}

func newIngress(ctx context.Context, d *Deps) (Loop, error) {
	const name = "ingress-address-controller"
	client, err := d.client(name)
	if err != nil {
		return nil, err
	}
	if err := makeIngressClass(ctx, client); err != nil {
		return nil, err
	}
	networking := d.Informers.Networking().V1()
	c := &ingress{host: d.Host, client: client, ingresses: networking.Ingresses().Lister(), classes: networking.IngressClasses().Lister()}
	c.notices = newNotices(client, name)
	c.queue = newQueue(name, c.serve)
	if err := c.queue.watch(networking.Ingresses().Informer(), func(any) bool { return true }); err != nil {
		return nil, err
	}
	if err := c.queue.watchGone(networking.Ingresses().Informer()); err != nil {
		return nil, err
	}
	if !c.host.Empty() {
		secrets := d.Informers.Core().V1().Secrets()
		c.secrets = secrets.Lister()
		if err := c.watchSecrets(secrets.Informer()); err != nil {
			return nil, err
		}
	}
	classes := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.serveAll() },
		UpdateFunc: func(_, _ any) { c.serveAll() },
		DeleteFunc: func(any) { c.serveAll() },
	}
	if err := c.queue.handleWith(networking.IngressClasses().Informer(), classes); err != nil {
		return nil, err
	}
	return c.queue.loop(1), nil
}

// makeIngressClass makes the default class, unless there is one of its name.
func makeIngressClass(ctx context.Context, client kubernetes.Interface) error {
	class := &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{
			Name: DefaultIngressClass, Annotations: map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"},
		},
		Spec: networkingv1.IngressClassSpec{Controller: IngressController},
	}
	_, err := client.NetworkingV1().IngressClasses().Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the ingress class %s: %w", DefaultIngressClass, err)
	}
	return nil
}

// serveAll has every Ingress looked at: a class came, went or changed.
func (c *ingress) serveAll() {
	all, err := c.ingresses.List(labels.Everything())
	if err != nil {
		return // a lister that reads a cache returns none
	}
	for _, i := range all {
		c.queue.keys.Add(cache.MetaObjectToName(i).String())
	}
}

// serve gives the Ingress with that key its address, or takes it.
func (c *ingress) serve(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	i, err := c.ingresses.Ingresses(namespace).Get(name)
	if err != nil {
		c.notices.forget(key)
		return ignoreNotFound(err)
	}
	served, err := c.served(i)
	if err != nil {
		return err
	}
	holds, err := c.noticesOf(i, served)
	if err != nil {
		return err
	}
	c.notices.keep(ctx, key, referenceOf(i), holds...)
	now := i.Status.LoadBalancer.Ingress
	switch {
	case served && (len(now) == 0 || c.ours(now)):
		address, err := c.address(ctx, i)
		if err != nil || len(now) == 1 && apiequality.Semantic.DeepEqual(now[0], address) {
			return err
		}
		return c.write(ctx, i, []networkingv1.IngressLoadBalancerIngress{address})
	case !served && c.ours(now):
		return c.write(ctx, i, nil)
	}
	return nil
}

// ours says whether it was this controller that gave the address, now or when the cluster had other nodes. An address
// of this machine counts with its ports alone: an ingress controller in the cluster publishes that of its load
// balancer, which is of this machine too, and operators' tests write 127.0.0.1.
func (c *ingress) ours(addresses []networkingv1.IngressLoadBalancerIngress) bool {
	if len(addresses) != 1 {
		return false
	}
	ip, err := netip.ParseAddr(addresses[0].IP)
	switch {
	case err != nil:
		return false
	case ip.String() == ingressAddress:
		return true
	case len(addresses[0].Ports) == 0:
		return false
	case c.host.Empty():
		return hostaddress.Local(ip)
	}
	return ip == c.host.Ingress() || hostaddress.Local(ip) && !c.host.Contains(ip) // of the cluster's folder before it moved
}

// address is that of an Ingress. Only one with TLS answers at the port for that.
func (c *ingress) address(ctx context.Context, i *networkingv1.Ingress) (networkingv1.IngressLoadBalancerIngress, error) {
	if c.host.Empty() {
		return networkingv1.IngressLoadBalancerIngress{IP: ingressAddress}, nil
	}
	if err := c.choosePorts(ctx); err != nil {
		return networkingv1.IngressLoadBalancerIngress{}, err
	}
	address := networkingv1.IngressLoadBalancerIngress{IP: c.host.Ingress().String()}
	for n, port := range c.ports {
		if n == 0 || len(i.Spec.TLS) > 0 {
			address.Ports = append(address.Ports, networkingv1.IngressPortStatus{Port: port, Protocol: corev1.ProtocolTCP})
		}
	}
	return address, nil
}

// choosePorts picks the ports of all Ingresses, once: those that an earlier run of the cluster gave, or free ones.
func (c *ingress) choosePorts(ctx context.Context) error {
	if c.ports != nil {
		return nil
	}
	all, err := c.ingresses.List(labels.Everything())
	if err != nil {
		return err
	}
	given := map[hostaddress.Port]bool{}
	for _, i := range all {
		for _, at := range i.Status.LoadBalancer.Ingress {
			if at.IP != c.host.Ingress().String() {
				continue
			}
			for _, p := range at.Ports {
				given[hostaddress.Port{Protocol: p.Protocol, Number: p.Port}] = true
			}
		}
	}
	none := func(hostaddress.Port) bool { return false }
	c.ports, err = hostaddress.Ports(ctx, c.host.Ingress(), ingressPorts, none, func(p hostaddress.Port) bool { return given[p] })
	return err
}

// classOf is the class that an Ingress names. The field comes before the annotation.
func classOf(i *networkingv1.Ingress) string {
	name := i.Annotations[classAnnotation]
	if i.Spec.IngressClassName != nil {
		name = cmp.Or(*i.Spec.IngressClassName, name)
	}
	return name
}

// served reports whether the Ingress has a class of ours.
func (c *ingress) served(i *networkingv1.Ingress) (bool, error) {
	name := classOf(i)
	if name == "" {
		return false, nil
	}
	class, err := c.classes.Get(name)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	return class.Spec.Controller == IngressController, nil
}

func (c *ingress) write(ctx context.Context, i *networkingv1.Ingress, addresses []networkingv1.IngressLoadBalancerIngress) error {
	changed := i.DeepCopy()
	changed.Status.LoadBalancer.Ingress = addresses
	_, err := c.client.NetworkingV1().Ingresses(i.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}
