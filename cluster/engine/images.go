package engine

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Images are the names of the images of all pods, of the main cluster and the logical ones: those that the pods ask for
// and, with digests, those that their containers run.
func (h *Host) Images(ctx context.Context) (names []string, err error) {
	for _, c := range append([]*Cluster{h.main}, h.Logical()...) {
		client, clientErr := kubernetes.NewForConfig(c.loopback())
		if clientErr != nil {
			err = errors.Join(err, clientErr)
			continue
		}
		pods, listErr := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if listErr != nil {
			err = errors.Join(err, listErr)
			continue
		}
		for i := range pods.Items {
			names = append(names, imagesOf(&pods.Items[i])...)
		}
	}
	return names, err
}

func imagesOf(pod *corev1.Pod) (names []string) {
	for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		names = append(names, c.Image)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		names = append(names, c.Image)
	}
	for _, v := range pod.Spec.Volumes {
		if v.Image != nil {
			names = append(names, v.Image.Reference)
		}
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for _, s := range list {
			names = append(names, s.ImageID)
		}
	}
	return names
}
