package controller

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
)

// HostAnnotation is the annotation with which a Service asks for an Ingress. Its value is the host, *.example.com for
// instance; without a value the Ingress is for all hosts.
const HostAnnotation = "ingress-manager.example.com/host"

// A mistake is why a Service cannot have an Ingress until its author changes it.
type mistake struct{ reason, text string }

// desiredIngress returns the Ingress that a Service asks for.
func (c *Controller) desiredIngress(service *corev1.Service) (*networkv1.Ingress, *mistake) {
	host := service.Annotations[HostAnnotation]
	if problems := hostProblems(host); len(problems) > 0 {
		return nil, &mistake{ReasonInvalidHost, fmt.Sprintf("The annotation %s is no host name: %s", HostAnnotation, strings.Join(problems, "; "))}
	}
	if c.domain != "" && !below(host, c.domain) {
		return nil, &mistake{ReasonHostNotAllowed, fmt.Sprintf("The annotation %s must be a host below %s", HostAnnotation, c.domain)}
	}
	port := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Protocol == corev1.ProtocolTCP })
	if port < 0 {
		return nil, &mistake{ReasonNoPort, "The Service has no TCP port for an Ingress to lead to"}
	}
	ingress := &networkv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       service.Namespace,
			Name:            service.Name,
			OwnerReferences: []metav1.OwnerReference{ownedBy(service)},
		},
		Spec: networkv1.IngressSpec{Rules: []networkv1.IngressRule{rule(host, service.Name, service.Spec.Ports[port].Port)}},
	}
	if c.class != "" {
		ingress.Spec.IngressClassName = &c.class
	}
	return ingress, nil
}

// rule sends all paths of a host to a port of a Service.
func rule(host, service string, port int32) networkv1.IngressRule {
	backend := networkv1.IngressBackend{Service: &networkv1.IngressServiceBackend{Name: service, Port: networkv1.ServiceBackendPort{Number: port}}}
	path := networkv1.HTTPIngressPath{Path: "/", PathType: ptr.To(networkv1.PathTypePrefix), Backend: backend}
	return networkv1.IngressRule{
		Host:             host,
		IngressRuleValue: networkv1.IngressRuleValue{HTTP: &networkv1.HTTPIngressRuleValue{Paths: []networkv1.HTTPIngressPath{path}}},
	}
}

// ownedBy returns the reference by which a Service controls an object of its namespace. It does not block the Service's
// foreground deletion: for that some clusters ask for the permission to update finalizers of Services.
func ownedBy(service *corev1.Service) metav1.OwnerReference {
	ref := *metav1.NewControllerRef(service, corev1.SchemeGroupVersion.WithKind("Service"))
	ref.BlockOwnerDeletion = nil
	return ref
}

// hostProblems returns why the API server would refuse a host.
func hostProblems(host string) []string {
	if host == "" {
		return nil
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{"it is an IP address"}
	}
	if strings.HasPrefix(host, "*") {
		return validation.IsWildcardDNS1123Subdomain(host)
	}
	return validation.IsDNS1123Subdomain(host)
}

// below reports whether a host, or all that a wildcard stands for, is in a domain. The empty host, which is all hosts,
// is in none.
func below(host, domain string) bool { return strings.HasSuffix(host, "."+domain) }

// strays reports whether an Ingress has a host outside of the domain, from before the domain was limited.
func (c *Controller) strays(ingress *networkv1.Ingress) bool {
	return c.domain != "" && slices.ContainsFunc(ingress.Spec.Rules, func(r networkv1.IngressRule) bool { return !below(r.Host, c.domain) })
}

// ofPredecessor reports whether an Ingress is that of a deleted Service of the same name, which the garbage collector
// is about to delete.
func ofPredecessor(ingress *networkv1.Ingress, service *corev1.Service) bool {
	owner := metav1.GetControllerOf(ingress)
	return owner != nil && owner.APIVersion == "v1" && owner.Kind == "Service" && owner.Name == service.Name && owner.UID != service.UID
}

// upToDate compares what this controller decides, and nothing else: a certificate's manager may add TLS, the API server
// its defaults.
func upToDate(ingress, desired *networkv1.Ingress) bool {
	taken := ingress.DeepCopy()
	take(taken, desired)
	return equality.Semantic.DeepEqual(ingress, taken)
}

// take sets in an Ingress what this controller decides. A class that the cluster has filled in stays when there is none
// to set.
func take(ingress, desired *networkv1.Ingress) {
	ingress.Spec.Rules = desired.Spec.Rules
	if desired.Spec.IngressClassName != nil {
		ingress.Spec.IngressClassName = desired.Spec.IngressClassName
	}
}
