package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

// Sparing is the client of the namespace controller's deleter.
func Sparing(client metadata.Interface, empty func(schema.GroupVersionResource, string) bool, going func(context.Context, string) (bool, error)) metadata.Interface {
	return sparing{client, empty, going}
}

// SolidOwners is the garbage collector's client.
func SolidOwners(client metadata.Interface, mapper meta.RESTMapper) metadata.Interface {
	return solidOwners{client, mapper}
}
