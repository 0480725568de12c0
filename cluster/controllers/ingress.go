package controllers

import (
	"cmp"
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	// IngressController is the controller of ingress classes whose Ingresses get an address here.
	IngressController = "slipway.dev/ingress"
	// DefaultIngressClass is the class of Ingresses that name none.
	DefaultIngressClass = "slipway"

	// classAnnotation is how Ingresses named their class before there was a field.
	classAnnotation = "kubernetes.io/ingress.class"

	// ingressAddress is shared by all Ingresses, as that of an ingress controller is. Like those of load balancers it
	// is reserved for documentation (RFC 5737): a program that connects to it reaches no other machine.
	ingressAddress = "198.51.100.1"
)

// ingress gives the Ingresses of its classes an address, and takes it back when they change to another class. It stands
// where a cluster has an ingress controller, and routes nothing.
type ingress struct {
	client    kubernetes.Interface
	ingresses networkinglisters.IngressLister
	classes   networkinglisters.IngressClassLister
	queue     *queue
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
	c := &ingress{client: client, ingresses: networking.Ingresses().Lister(), classes: networking.IngressClasses().Lister()}
	c.queue = newQueue(name, c.serve)
	if err := c.queue.watch(networking.Ingresses().Informer(), func(any) bool { return true }); err != nil {
		return nil, err
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
		return ignoreNotFound(err)
	}
	served, err := c.served(i)
	if err != nil {
		return err
	}
	switch addresses := i.Status.LoadBalancer.Ingress; {
	case served && len(addresses) == 0:
		return c.write(ctx, i, []networkingv1.IngressLoadBalancerIngress{{IP: ingressAddress}})
	case !served && len(addresses) == 1 && addresses[0].IP == ingressAddress:
		return c.write(ctx, i, nil)
	}
	return nil
}

// served reports whether the Ingress has a class of ours. The field comes before the annotation.
func (c *ingress) served(i *networkingv1.Ingress) (bool, error) {
	name := i.Annotations[classAnnotation]
	if i.Spec.IngressClassName != nil {
		name = cmp.Or(*i.Spec.IngressClassName, name)
	}
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
