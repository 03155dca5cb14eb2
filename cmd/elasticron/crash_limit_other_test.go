//go:build !unix

package main

func tellCoreLimit() {}
