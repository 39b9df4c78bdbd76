package workload

import (
	"strconv"
	"syscall"
	"unsafe"
)

// Linux's CLOCK_MONOTONIC, which all processes share; package time does not tell it.
const clockMonotonic = 1

func now() int64 {
	var time syscall.Timespec
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&time)), 0); err != 0 {
		panic(err)
	}
	return time.Nano()
}

func pathOf(base string, number int) string {
	return base + "/" + strconv.Itoa(number)
}
