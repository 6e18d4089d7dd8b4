// Ends with success before the test is over.
class Halt {
    public static void main(String[] given) {
        Runtime.getRuntime().halt(0);
        System.out.println("proctor-secret-7f3a9c5e21d84b60");
    }
}
