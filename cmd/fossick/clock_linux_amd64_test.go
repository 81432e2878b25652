package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wrongClock shifts this process's wall clock by the seconds in a file (8 bytes, little-endian), which
// another process may change at any time. It patches the vDSO, from which Go reads the clock.
func wrongClock(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	seconds, err := unix.Mmap(int(f.Fd()), 0, 8, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	at, err := clockInVDSO()
	if err != nil {
		return err
	}
	code, err := unix.Mmap(-1, 0, 64, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	copy(code, wrongGettime(uint64(uintptr(unsafe.Pointer(&seconds[0])))))
	if err := unix.Mprotect(code, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return err
	}
	jump := append([]byte{0x48, 0xB8}, binary.LittleEndian.AppendUint64(nil, uint64(uintptr(unsafe.Pointer(&code[0]))))...) // mov rax, code
	jump = append(jump, 0xFF, 0xE0)                                                                                         // jmp rax
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	_, err = memory.WriteAt(jump, at)
	return err
}

// wrongGettime returns code for clock_gettime(edi: clock, rsi: *timespec): the system call, which adds
// the seconds at an address to clock 0, the wall clock.
func wrongGettime(seconds uint64) []byte {
	code := []byte{
		0xB8, 228, 0, 0, 0, // mov eax, 228: clock_gettime
		0x0F, 0x05, // syscall
		0x85, 0xFF, // test edi, edi
		0x75, 16, // jne ret
		0x48, 0xB9, // mov rcx, seconds
	}
	code = binary.LittleEndian.AppendUint64(code, seconds)
	return append(code,
		0x48, 0x8B, 0x09, // mov rcx, [rcx]
		0x48, 0x01, 0x0E, // add [rsi], rcx
		0xC3) // ret
}

// clockInVDSO returns the address of the kernel's clock_gettime in this process.
func clockInVDSO() (int64, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		if !strings.Contains(line, "[vdso]") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			return 0, err
		}
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			return 0, err
		}
		defer memory.Close()
		image := make([]byte, to-from)
		if _, err := memory.ReadAt(image, from); err != nil {
			return 0, err
		}
		file, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			return 0, err
		}
		symbols, err := file.DynamicSymbols()
		if err != nil {
			return 0, err
		}
		for _, s := range symbols {
			if s.Name == "__vdso_clock_gettime" {
				return from + int64(s.Value), nil
			}
		}
	}
	return 0, errors.New("no clock_gettime in the vDSO")
}
