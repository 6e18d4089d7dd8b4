package proctor;

/**
 * Runs the main method of a class and gives back the proof once it has returned.
 *
 * In a package of its own, where classes of the program mean nothing; the proof lies masked.
 */
final class Launch {
    private Launch() {
    }

    public static void main(java.lang.String[] words) throws java.lang.Throwable {
        byte[] masked = java.lang.System.in.readAllBytes();
        byte[] mask = new byte[masked.length];
        new java.security.SecureRandom().nextBytes(mask);
        int length = 0;
        for (int i = 0; i < masked.length; i++) {
            if (masked[i] > ' ') {
                length = i + 1;
            }
            masked[i] ^= mask[i];
        }
        java.io.FileOutputStream out = new java.io.FileOutputStream(java.io.FileDescriptor.out);
        java.lang.reflect.Method main =
            java.lang.Class.forName(words[0]).getDeclaredMethod("main", java.lang.String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (java.lang.Object) new java.lang.String[0]);
        } catch (java.lang.reflect.InvocationTargetException thrown) {
            throw thrown.getCause();
        }
        java.lang.System.out.flush();
        byte[] proof = new byte[length + 2];
        proof[0] = '\n';
        for (int i = 0; i < length; i++) {
            proof[i + 1] = (byte) (masked[i] ^ mask[i]);
        }
        proof[length + 1] = '\n';
        out.write(proof);
    }
}
