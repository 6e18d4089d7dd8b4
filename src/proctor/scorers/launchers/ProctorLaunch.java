import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Runs the main method of a class and gives back the proof once it has returned. */
final class ProctorLaunch {
    public static void main(String[] args) throws Throwable {
        String given = new String(System.in.readAllBytes(), "US-ASCII").trim();
        String turned = new StringBuilder(given).reverse().toString();
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        Method main = Class.forName(args[0]).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
        System.out.flush();
        out.write(("\n" + new StringBuilder(turned).reverse() + "\n").getBytes("US-ASCII"));
    }
}
