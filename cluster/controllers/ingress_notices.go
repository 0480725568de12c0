package controllers

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
)

const (
	reasonClass     = "IngressClassNotServed"
	reasonTLS       = "TLSServed"
	reasonNoTLS     = "TLSNotServed"
	mostNamed       = 3   // names in one message
	mostNotices     = 10  // of one Ingress
	longestOfOthers = 100 // of a text that others chose
)

func referenceOf(i *networkingv1.Ingress) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "Ingress", Namespace: i.Namespace, Name: i.Name, UID: i.UID, ResourceVersion: i.ResourceVersion,
	}
}

// noticesOf are what holds of an Ingress that has no address, or the address of others, or one of ours.
func (c *ingress) noticesOf(i *networkingv1.Ingress, served bool) ([]notice, error) {
	switch now := i.Status.LoadBalancer.Ingress; {
	case len(now) > 0 && !c.ours(now): // another controller serves it
		return nil, nil
	case served && c.host.Empty():
		return nil, nil
	case served:
		return c.tlsNotices(i)
	}
	n, err := c.classNotice(i)
	return []notice{n}, err
}

// classNotice says why an Ingress is not served, and which would be.
func (c *ingress) classNotice(i *networkingv1.Ingress) (notice, error) {
	here, err := c.servedClasses()
	if err != nil {
		return notice{}, err
	}
	name := classOf(i)
	if name == "" {
		return notice{corev1.EventTypeWarning, reasonClass, "This Ingress names no class, and there is no default class. " + here}, nil
	}
	class, err := c.classes.Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return notice{corev1.EventTypeWarning, reasonClass, fmt.Sprintf("There is no IngressClass %.*q. %s", longestOfOthers, name, here)}, nil
	case err != nil:
		return notice{}, err
	}
	return notice{corev1.EventTypeNormal, reasonClass, fmt.Sprintf("The IngressClass %s belongs to the controller %.*q, which must run in the cluster. %s",
		name, longestOfOthers, class.Spec.Controller, here)}, nil
}

// servedClasses names the classes of ours.
func (c *ingress) servedClasses() (string, error) {
	all, err := c.classes.List(labels.Everything())
	if err != nil {
		return "", err
	}
	var names []string
	for _, class := range all {
		if class.Spec.Controller == IngressController {
			names = append(names, class.Name)
		}
	}
	if len(names) == 0 {
		return "The cluster itself serves no class: no IngressClass has the controller " + IngressController + ".", nil
	}
	slices.Sort(names)
	return "The cluster itself serves the class " + some(names) + ".", nil
}

// some are the first of many names.
func some(names []string) string {
	text := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tlsNotices say of each certificate that an Ingress names whether it is served.
func (c *ingress) tlsNotices(i *networkingv1.Ingress) (all []notice, err error) {
	for _, t := range i.Spec.TLS[:min(len(i.Spec.TLS), mostNotices)] {
		hosts := "all hosts"
		if len(t.Hosts) > 0 {
			hosts = some(t.Hosts)
		}
		problem, err := c.problem(i.Namespace, t.SecretName)
		if err != nil {
			return nil, err
		}
		n := notice{corev1.EventTypeNormal, reasonTLS, fmt.Sprintf("TLS for %s is served with the certificate of the Secret %s", hosts, t.SecretName)}
		if problem != "" {
			n = notice{corev1.EventTypeWarning, reasonNoTLS, fmt.Sprintf("TLS for %s is not served: %s. Connections with TLS fail until then; requests without TLS are answered.", hosts, problem)}
		}
		all = append(all, n)
	}
	return all, nil
}

// problem is why a Secret has no certificate to serve, in words of ours: a Secret's content is not to be in an Event.
func (c *ingress) problem(namespace, name string) (string, error) {
	if name == "" {
		return "spec.tls names no Secret", nil
	}
	s, err := c.secrets.Secrets(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("there is no Secret %s", name), nil
	case err != nil:
		return "", err
	}
	for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
		if len(s.Data[key]) == 0 {
			return fmt.Sprintf("the Secret %s has no %s", name, key), nil
		}
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return fmt.Sprintf("tls.crt and tls.key of the Secret %s are not a certificate and its key", name), nil
	}
	return "", nil
}

// watchSecrets has the Ingresses looked at that name a Secret which came, went or changed.
func (c *ingress) watchSecrets(informer cache.SharedIndexInformer) error {
	changed := func(obj any) {
		key, err := cache.DeletionHandlingObjectToName(obj)
		if err != nil {
			return
		}
		all, err := c.ingresses.Ingresses(key.Namespace).List(labels.Everything())
		if err != nil {
			return // a lister that reads a cache returns none
		}
		for _, i := range all {
			if slices.ContainsFunc(i.Spec.TLS, func(t networkingv1.IngressTLS) bool { return t.SecretName == key.Name }) {
				c.queue.keys.Add(cache.MetaObjectToName(i).String())
			}
		}
	}
	return c.queue.handleWith(informer, cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, now any) { changed(now) }, DeleteFunc: changed,
	})
}
