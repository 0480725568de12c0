// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ingressv1beta1 "example.com/app/api/v1beta1"
)

// domain is what the hosts of all Apps end in.
const domain = "apps.example.com"

// port is where the pods of Apps answer, and their Services too.
const port = 80

// These labels mark the pods of an App.
const (
	nameLabel      = "app.kubernetes.io/name"
	managedByLabel = "app.kubernetes.io/managed-by"
	managedBy      = "app-controller"
)

func labels(app *ingressv1beta1.App) map[string]string {
	return map[string]string{nameLabel: app.Name, managedByLabel: managedBy}
}

// host is the name under which an Ingress offers an App.
func host(app *ingressv1beta1.App) string { return app.Name + "." + app.Namespace + "." + domain }

// A part is an object that belongs to an App and has its name.
type part struct {
	kind     string
	object   client.Object // as it is, once it was read
	wanted   bool
	describe func() // writes into the object what the App asks for
}

// parts are those of an App, with its Deployment first. They describe only what the App has an opinion about: what
// the API server or others fill in besides is no difference, and causes no write.
func parts(app *ingressv1beta1.App) []part {
	meta := metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}
	deployment := &appsv1.Deployment{ObjectMeta: meta}
	service := &corev1.Service{ObjectMeta: meta}
	ingress := &networkingv1.Ingress{ObjectMeta: meta}
	return []part{
		{"Deployment", deployment, true, func() { describeDeployment(app, deployment) }},
		{"Service", service, app.Spec.EnableService, func() { describeService(app, service) }},
		{"Ingress", ingress, app.Spec.WantsIngress(), func() { describeIngress(app, ingress) }},
	}
}

func describeDeployment(app *ingressv1beta1.App, deployment *appsv1.Deployment) {
	if deployment.ResourceVersion == "" { // it cannot be changed later
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels(app)}
	}
	deployment.Spec.Replicas = &app.Spec.Replicas
	template := &deployment.Spec.Template
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	for name, value := range labels(app) {
		template.Labels[name] = value
	}
	if len(template.Spec.Containers) == 0 {
		template.Spec.Containers = []corev1.Container{{Name: "app"}}
	}
	c := &template.Spec.Containers[0]
	c.Image = app.Spec.Image
	c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}}
}

func describeService(app *ingressv1beta1.App, service *corev1.Service) {
	service.Spec.Selector = labels(app)
	if len(service.Spec.Ports) != 1 {
		service.Spec.Ports = make([]corev1.ServicePort, 1)
	}
	p := &service.Spec.Ports[0]
	p.Name, p.Protocol, p.Port, p.TargetPort = "http", corev1.ProtocolTCP, port, intstr.FromString("http")
}

func describeIngress(app *ingressv1beta1.App, ingress *networkingv1.Ingress) {
	backend := &networkingv1.IngressServiceBackend{Name: app.Name, Port: networkingv1.ServiceBackendPort{Name: "http"}}
	path := networkingv1.HTTPIngressPath{
		Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: networkingv1.IngressBackend{Service: backend},
	}
	rule := networkingv1.IngressRule{Host: host(app)}
	rule.HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{path}}
	ingress.Spec.Rules = []networkingv1.IngressRule{rule}
}
